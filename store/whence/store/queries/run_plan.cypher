// Question    Which chain did a run follow?
// Parameters  $id: the run
// Plan        unique index seek, then one relationship
MATCH (r:Run {id: $id})-[:hadPlan]->(c:Chain)
RETURN c.digest AS digest, c.definition AS definition
