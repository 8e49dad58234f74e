// Question    Which runs are there, the latest first?
// Parameters  $most: how many
// Plan        scan of the label Run
MATCH (r:Run)
RETURN r.id AS id, r.started AS started ORDER BY r.started DESC, id DESC LIMIT $most
