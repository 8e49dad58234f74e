// Question    Which input events of a log are of this time?
// Parameters  $since, $until: instants (or texts, where the log's times are texts), both included
//             $first, $last: keys of the log's first and last event
// Plan        index range seek on Input.time
MATCH (e:Input) WHERE e.time >= $since AND e.time <= $until AND e.key >= $first AND e.key <= $last
RETURN e.key / 65536 AS page, collect(e.key) AS keys
