// Writes      The marker of a chunk, in the same transaction as what the chunk holds
// Parameters  $id: text; $events, $spans, $heads, $edges: integers; $digest: text
//             $owns: list of keys: first and last of its events, of its choices, of its end
//             $selected: true if its events stand apart; $keys: then their keys; $merged: keys of
//             the log's events that it needs; null where there are none
// Plan        unique index on Chunk.id; who finds the marker there must write nothing more
MERGE (c:Chunk {id: $id})
ON CREATE SET c.fresh = true, c.events = $events, c.spans = $spans, c.heads = $heads,
  c.edges = $edges, c.digest = $digest, c.owns = $owns,
  c.selected = $selected, c.keys = $keys, c.merged = $merged
WITH c, c.fresh IS NOT NULL AS fresh
REMOVE c.fresh
RETURN fresh
