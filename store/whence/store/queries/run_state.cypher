// Writes      How far a run and its loading have come
// Parameters  $id: the run; $state: map of properties
//             $streams: list of {id, length, tracked}
// Plan        unique index seeks
MATCH (run:Run {id: $id}) SET run += $state
WITH run
UNWIND $streams AS row
MATCH (s:Collection {id: row.id}) SET s.length = row.length, s.tracked = row.tracked
RETURN count(s) AS streams
