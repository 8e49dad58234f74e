// Question    Which outputs of this stream were not tracked?
// Parameters  $first, $last: keys of the stream's first and last output
// Plan        index range seek on Event.key
MATCH (e:Event) WHERE e.key >= $first AND e.key <= $last AND e.untracked
RETURN e.key AS key ORDER BY key
