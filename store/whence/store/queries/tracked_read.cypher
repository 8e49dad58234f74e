// Question    Which outputs of this stream were tracked?
// Parameters  $first, $last: keys of the stream's first and last output
// Plan        index range seek on Event.key; others may not be there at all
MATCH (e:Event) USING INDEX SEEK e:Event(key)
WHERE e.key >= $first AND e.key <= $last AND e.untracked IS NULL
RETURN e.key AS key ORDER BY key
