// Question    Which events does the end of this output pipe lean on, one step?
// Parameters  $keys: list of keys of ends
// Plan        unique index seek on End.key
UNWIND $keys AS end
MATCH (o:End {key: end})-[:wasInfluencedBy]->(e:Event)
USING INDEX SEEK o:End(key)
RETURN DISTINCT e.key AS key
