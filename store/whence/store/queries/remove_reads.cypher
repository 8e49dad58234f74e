// Question    What does a run read, which chain had it, and who reads its streams?
// Parameters  $id: the run
// Plan        unique index seek, then a handful of relationships
MATCH (r:Run {id: $id})
RETURN [(r)-[:used]->(l:Collection) | l.id] AS logs, [(r)-[:hadPlan]->(c:Chain) | c.digest] AS chains,
  [(other:Run)-[:used]->(:Collection)-[:wasGeneratedBy]->(r) | other.id] AS readers
