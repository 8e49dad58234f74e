// Question    Which edges do these chunks hold, packed?
// Parameters  $ids: list of texts
// Plan        unique index seeks on Chunk.id
UNWIND $ids AS id
MATCH (c:Chunk {id: id})
USING INDEX SEEK c:Chunk(id)
RETURN id, c.packed AS packed, c.bounds AS bounds
