// Question    What is the chain of this run?
// Parameters  $id: the run
// Plan        unique index seek, then one relationship
MATCH (:Run {id: $id})-[:hadPlan]->(c:Chain)
RETURN c.digest AS digest, c.definition AS definition
