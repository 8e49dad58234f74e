// Question    Between which events do the edges of each chunk of this run lead?
// Parameters  $prefix: text that the ids of its chunks begin with
// Plan        index range seek on Chunk.id; six numbers a group of edges: number of the stream and
//             of what it leads to, first and last position there, first and last position here
MATCH (c:Chunk) WHERE c.id STARTS WITH $prefix
RETURN c.id AS id, c.bounds AS bounds, coalesce(c.selected, false) AS selected
