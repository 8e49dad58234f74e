// Writes      The streams that a run generated; again: how long they are by now
// Parameters  $run: id of the run; $streams: list of maps (id, no, …)
//             $ends: list of maps (key, name, …): the end of each output pipe
// Plan        unique index seeks
MATCH (run:Run {id: $run})
CALL (run) {
  UNWIND $streams AS row
  MERGE (s:Collection {id: row.id}) SET s:Stream, s += row
  MERGE (s)-[:wasGeneratedBy]->(run)
}
CALL (run) {
  UNWIND $ends AS row
  MERGE (e:End {key: row.key}) SET e += row
  MERGE (e)-[:wasGeneratedBy]->(run)
}
RETURN run.id AS id
