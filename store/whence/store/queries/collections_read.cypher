// Question    Which logs and streams are there, and which runs do they belong to?
// Parameters  none
// Plan        index range seek on Collection.no
MATCH (c:Collection) WHERE c.no >= 0
RETURN c.id AS id, c.no AS no, c.name AS name, c:Log AND NOT c:Stream AS log, c.role AS role,
  [(r:Run)-[:used]->(c) | r.id] AS users, [(c)-[:wasGeneratedBy]->(r:Run) | r.id] AS makers
ORDER BY no
