// Question    Which events does the end of this output pipe lean on, one step?
// Parameters  $keys: list of keys of ends
// Plan        unique index seek on End.key
UNWIND $keys AS end
MATCH (:End {key: end})-[:wasInfluencedBy]->(e:Event)
RETURN DISTINCT e.key AS key
