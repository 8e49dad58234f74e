// Writes      Removes a chain that no run had as its plan any more, and processors of no chain
// Parameters  $digest: of the chain
// Plan        unique index seek
MATCH (c:Chain {digest: $digest}) WHERE NOT EXISTS { (c)<-[:hadPlan]-() }
OPTIONAL MATCH (c)-[:hadMember]->(p:Processor)
WITH c, collect(p) AS processors
DETACH DELETE c
WITH processors
UNWIND processors AS p
WITH p WHERE NOT EXISTS { (p)<-[:hadMember]-() }
DETACH DELETE p
RETURN count(*) AS removed
