// Writes      How far a run, its logs and its loading have come
// Parameters  $id: the run; $state: map of properties
//             $streams: list of {id, length, tracked}; $logs: list of {id, length, digest}
// Plan        unique index seeks; a log that grows is never made shorter by who knows less of it
MATCH (run:Run {id: $id}) SET run += $state
WITH run
CALL () {
  UNWIND $streams AS row
  MATCH (s:Collection {id: row.id}) SET s.length = row.length, s.tracked = row.tracked
}
CALL () {
  UNWIND $logs AS row
  MATCH (log:Collection {id: row.id})
  WHERE log.length < row.length OR (log.digest IS NULL AND row.digest IS NOT NULL)
  SET log.length = row.length, log.digest = row.digest
}
RETURN run.id AS id
