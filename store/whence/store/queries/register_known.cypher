// Question    Which of these logs and streams are there, under which number?
// Parameters  $ids: list of texts
// Plan        unique index seek on Collection.id
UNWIND $ids AS id
MATCH (c:Collection {id: id})
RETURN c.id AS id, c.no AS no
