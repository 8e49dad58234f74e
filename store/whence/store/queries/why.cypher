// Question    Which input events explain this output? (literal edges only)
// Parameters  $key: integer, key of the output event
// Plan        unique index seek, then VarLengthExpand(Pruning,BFS)
MATCH (:Event {key: $key})-[:wasDerivedFrom*1..]->(e)
WITH DISTINCT e WHERE e:Input   // filtering inside the pattern may lose the pruning
RETURN e.key AS key, e.value AS value ORDER BY key
