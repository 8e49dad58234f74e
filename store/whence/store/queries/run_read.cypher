// Question    What is known of a run: itself, its logs and its streams?
// Parameters  $id: the run
// Plan        unique index seek, then a handful of relationships
MATCH (r:Run {id: $id})
RETURN properties(r) AS run,
  [(r)-[u:used]->(l:Log) | l {.*, as: u.as,
    partly: any(other IN [(l)-[:wasGeneratedBy]->(m:Run) | m.selected] WHERE other)}] AS logs,
  [(s:Stream)-[:wasGeneratedBy]->(r) | properties(s)] AS streams,
  [(e:End)-[:wasGeneratedBy]->(r) | properties(e)] AS ends
