// Writes      A few events and what they were derived from, in one transaction
// Parameters  $inputs, $outputs: lists of {key: integer, value}
//             $edges: list of {output: integer, input: integer}, keys of events in the two lists
// Plan        the label Sample marks them, so that sample_remove finds these and no others
UNWIND $inputs AS row
MERGE (e:Event {key: row.key})
SET e:Input:Sample, e.value = row.value
WITH count(*) AS inputs
UNWIND $outputs AS row
MERGE (e:Event {key: row.key})
SET e:Output:Sample, e.value = row.value
WITH inputs, count(*) AS outputs
UNWIND $edges AS edge
MATCH (o:Event {key: edge.output}), (i:Event {key: edge.input})
MERGE (o)-[:wasDerivedFrom]->(i)
RETURN inputs, outputs, count(*) AS edges
