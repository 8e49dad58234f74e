// Question    Which input events of a log are of these cases?
// Parameters  $values: the case, as text and as whatever else it may be
//             $first, $last: keys of the log's first and last event
// Plan        index seek on Input.case
MATCH (e:Input) USING INDEX SEEK e:Input(case)
WHERE e.case IN $values AND e.key >= $first AND e.key <= $last
RETURN e.key / 65536 AS page, collect(e.key) AS keys
