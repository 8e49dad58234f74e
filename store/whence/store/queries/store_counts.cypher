// Question    How many nodes and relationships are there in all?
// Parameters  none
// Plan        both from the count store, whatever the size; of an empty graph too
CALL () { MATCH (n) RETURN count(n) AS nodes }
CALL () { MATCH ()-[r]->() RETURN count(r) AS edges }
RETURN nodes, edges
