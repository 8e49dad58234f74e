// Question    Which runs are there, the latest first?
// Parameters  $most: how many; $imported: list of booleans, [false] for those made here
// Plan        scan of the label Run
MATCH (r:Run) WHERE coalesce(r.imported, false) IN $imported
RETURN r.id AS id, r.started AS started ORDER BY r.started DESC, id DESC LIMIT $most
