// Writes      The streams of other runs that a run read as its logs
// Parameters  $run: id of the run; $logs: list of {as: name in the chain, id: of the stream,
//             with: map (plain, columns, …)}
// Plan        unique index seeks; a stream that is not there is missed in the count
MATCH (run:Run {id: $run})
UNWIND $logs AS row
MATCH (s:Collection {id: row.id})
SET s:Log, s += row.with
MERGE (run)-[:used {as: row.as}]->(s)
RETURN count(s) AS logs
