// Question    Which runs are there?
// Parameters  none
// Plan        index range seek on Run.id
MATCH (r:Run) WHERE r.id >= ''
RETURN r.id AS id, r.status AS status, coalesce(r.loaded, false) AS loaded, r.started AS started,
  r.ended AS ended, coalesce(r.selected, false) AS selected,
  [(e:End)-[:wasGeneratedBy]->(r) | e.no] AS ends
ORDER BY r.started, id
