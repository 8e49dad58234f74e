// Writes      The packed edges of a chunk, where the chunk was written without them
// Parameters  $id: of the chunk; $packed: bytes; $bounds: list of integers: where they lead
// Plan        unique index seek
MATCH (c:Chunk {id: $id})
USING INDEX SEEK c:Chunk(id)
SET c.packed = $packed, c.bounds = $bounds
RETURN c.id AS id
