// Question    Which events are reached from these events to what supports them?
// Parameters  $keys: list of integers, few of them: each walks for itself
// Plan        unique index seek, then VarLengthExpand(Pruning,BFS)
//             (held by an EXPLAIN test and a 30-diamond test)
UNWIND $keys AS start
MATCH (o:Event {key: start})-[r:wasDerivedFrom|wasInfluencedBy*1..]->(e)
USING INDEX SEEK o:Event(key)
WHERE all(x IN r WHERE x.trigger IS NULL AND (x.witness IS NULL OR 0 IN x.witness))
WITH DISTINCT e WHERE e:Event   // filtering inside the pattern may lose the pruning
RETURN e.key AS key
