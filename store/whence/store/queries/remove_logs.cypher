// Writes      Takes those of these logs out of the graph that no run reads any more
// Parameters  $ids: list of texts
// Plan        unique index seeks
UNWIND $ids AS id
MATCH (l:Collection {id: id}) WHERE l:Log AND NOT l:Stream AND NOT EXISTS { (l)<-[:used]-() }
CREATE (:Doomed {no: l.no})
WITH l, l.id AS id
DETACH DELETE l
RETURN id
