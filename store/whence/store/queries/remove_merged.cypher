// Question    Which events of logs did selected outputs of a run need?
// Parameters  $prefix: text that the ids of its chunks begin with
// Plan        index range seek on Chunk.id
MATCH (c:Chunk) WHERE c.id STARTS WITH $prefix AND c.merged IS NOT NULL
RETURN c.merged AS keys
