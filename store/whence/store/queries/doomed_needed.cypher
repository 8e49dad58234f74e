// Question    Which chunks hold events of a log or stream, or need some?
// Parameters  $log, $run: texts that the ids of its own chunks begin with
// Plan        index range seeks on Chunk.id; markers name the events of selected outputs one by one
MATCH (c:Chunk) WHERE c.id STARTS WITH $log
RETURN coalesce(c.selected, false) AS selected, c.owns AS owns, c.keys AS keys, c.merged AS merged
UNION ALL
MATCH (c:Chunk) WHERE c.id STARTS WITH $run
RETURN coalesce(c.selected, false) AS selected, c.owns AS owns, c.keys AS keys, c.merged AS merged
UNION ALL
MATCH (c:Chunk) WHERE c.id >= 'run/' AND c.merged IS NOT NULL
RETURN true AS selected, null AS owns, null AS keys, c.merged AS merged
