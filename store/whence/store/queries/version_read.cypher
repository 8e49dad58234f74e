// Question    Which version has the graph, and are there chunks at all?
// Parameters  none
// Plan        scan of the label Schema, of which there is one; the count store
OPTIONAL MATCH (s:Schema)
WITH max(s.version) AS version
RETURN version, COUNT { (:Chunk) } AS chunks
