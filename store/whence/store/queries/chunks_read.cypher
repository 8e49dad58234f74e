// Question    Which chunks of this log or run are loaded?
// Parameters  $prefix: text that their ids begin with
// Plan        index range seek on Chunk.id
MATCH (c:Chunk) WHERE c.id STARTS WITH $prefix
RETURN c.id AS id, c.events AS events, c.spans AS spans, c.heads AS heads, c.edges AS edges,
  c.digest AS digest, c.owns AS owns, coalesce(c.selected, false) AS selected,
  c.keys AS keys, c.merged AS merged
ORDER BY id
