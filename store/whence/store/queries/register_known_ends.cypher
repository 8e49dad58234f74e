// Question    Which of these ends of pipes are there, under which number?
// Parameters  $ids: list of texts
// Plan        unique index seek on End.id
UNWIND $ids AS id
MATCH (e:End {id: id})
RETURN e.id AS id, e.no AS no
