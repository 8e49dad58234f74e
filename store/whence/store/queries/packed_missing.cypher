// Question    Which chunks are without their edges packed, and which keys are theirs?
// Parameters  none
// Plan        index range seek on Chunk.id
MATCH (c:Chunk) WHERE c.id >= '' AND c.bounds IS NULL AND c.selected IS NULL
RETURN c.id AS id, c.owns AS owns
