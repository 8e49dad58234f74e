// Writes      What a chunk owns, how many heads it began or ended, and its digest
// Parameters  $id: of the chunk; $owns: list of keys; $heads: integer; $digest: text
// Plan        unique index seek
MATCH (c:Chunk {id: $id})
USING INDEX SEEK c:Chunk(id)
SET c.owns = $owns, c.heads = $heads, c.digest = $digest
RETURN c.id AS id
