// Question    How many nodes and relationships are there in all?
// Parameters  none
// Plan        both from the count store, whatever the size
MATCH (n) WITH count(n) AS nodes
MATCH ()-[r]->() RETURN nodes, count(r) AS edges
