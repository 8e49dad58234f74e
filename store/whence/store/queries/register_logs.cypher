// Writes      The logs that a run used
// Parameters  $run: id of the run; $logs: list of {as: name in the chain, with: map (id, no, …),
//             revises: id of the log that it corrects, or null}
// Plan        unique index seeks
MATCH (run:Run {id: $run})
UNWIND $logs AS row
MERGE (log:Collection {id: row.with.id})
SET log:Log, log += row.with
MERGE (run)-[:used {as: row.as}]->(log)
WITH row, log
CALL (row, log) {
  MATCH (old:Collection {id: row.revises})
  MERGE (log)-[:wasRevisionOf]->(old)
}
RETURN count(log) AS logs
