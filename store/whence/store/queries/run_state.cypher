// Writes      How far a run, its logs and its loading have come
// Parameters  $id: the run; $state: map of properties
//             $streams: list of {id, length, tracked}; $logs: list of {id, length, digest}
// Plan        unique index seeks; a log that grows is never made shorter by who knows less of it,
//             and a run that has ended stays so: a loader that was left behind may come late. The
//             run is locked first, so that what is looked at is what the last one has said.
MATCH (run:Run {id: $id})
SET run.told = true REMOVE run.told
WITH run, ["complete", "failed"] AS ended
WITH run, $state.status IN ended OR NOT coalesce(run.status, "") IN ended AS knows
CALL (run, knows) {
  WITH run, knows WHERE knows
  SET run += $state
}
CALL (knows) {
  UNWIND CASE WHEN knows THEN $streams ELSE [] END AS row
  MATCH (s:Collection {id: row.id}) SET s.length = row.length, s.tracked = row.tracked
}
CALL () {
  UNWIND $logs AS row
  MATCH (log:Collection {id: row.id})
  WHERE log.length < row.length OR (log.digest IS NULL AND row.digest IS NOT NULL)
  SET log.length = row.length, log.digest = row.digest
}
RETURN run.id AS id
