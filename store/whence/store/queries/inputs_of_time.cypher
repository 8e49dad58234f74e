// Question    Which input events of a log are of this time?
// Parameters  $after, $before: instants (or texts, where the log's times are texts), both excluded:
//             instants that are equal but for the way their zone is written have an order too
//             $first, $last: keys of the log's first and last event
// Plan        index range seek on Input.time
MATCH (e:Input) USING INDEX SEEK e:Input(time)
WHERE e.time > $after AND e.time < $before AND e.key >= $first AND e.key <= $last
RETURN e.key / 65536 AS page, collect(e.key) AS keys
