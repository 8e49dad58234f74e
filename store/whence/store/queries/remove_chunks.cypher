// Writes      Removes the markers of a run's or a log's chunks
// Parameters  $prefix: text that their ids begin with
// Plan        index range seek on Chunk.id
MATCH (c:Chunk) WHERE c.id STARTS WITH $prefix
DELETE c
RETURN count(*) AS removed
