// Writes      Takes a run out of the graph, with its streams and ends; their events go afterwards
// Parameters  $id: the run
// Plan        unique index seek, then a handful of relationships
MATCH (r:Run {id: $id})
OPTIONAL MATCH (s:Collection)-[:wasGeneratedBy]->(r)
WITH r, collect(s) AS streams
OPTIONAL MATCH (e:End)-[:wasGeneratedBy]->(r)
WITH r, streams, collect(e) AS ends
FOREACH (s IN streams | CREATE (:Doomed {no: s.no}))
FOREACH (e IN ends | CREATE (:Doomed {no: e.no}))
FOREACH (s IN streams | DETACH DELETE s)
FOREACH (e IN ends | DETACH DELETE e)
DETACH DELETE r
RETURN size(streams) AS streams
