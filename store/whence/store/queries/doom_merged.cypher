// Writes      Events of logs that stay, which a run needed that is taken out of the graph
// Parameters  $rows: list of {no: number of the log, keys: list of integers}
// Plan        CREATE, after one look at each log: what goes with its log is not named again
UNWIND $rows AS row
MATCH (l:Collection {no: row.no})
CREATE (:Doomed {no: row.no, keys: row.keys})
RETURN count(*) AS doomed
