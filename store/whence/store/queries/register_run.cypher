// Writes      A run, its chain and the chain's processors; again: what has changed of the run
// Parameters  $run: map (id and the other properties); $chain: map (digest, definition)
//             $processors: list of maps (id, name, definition); $selected: whether only tracked
//             outputs will be there, which a run that is there already does not become
// Plan        unique index seeks
MERGE (run:Run {id: $run.id})
ON CREATE SET run.selected = $selected
SET run += $run
MERGE (chain:Chain {digest: $chain.digest}) SET chain += $chain
MERGE (run)-[:hadPlan]->(chain)
WITH chain
UNWIND $processors AS row
MERGE (p:Processor {id: row.id}) SET p += row
MERGE (chain)-[:hadMember]->(p)
RETURN count(p) AS processors
