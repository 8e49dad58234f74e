// Question    Which is the first output, of those that are there, from a place and a moment on?
// Parameters  $first, $last: keys of a stretch of a stream, both included; $moment: an input position
// Plan        index range seek on Event.key, from the first on
MATCH (e:Event) USING INDEX SEEK e:Event(key)
WHERE e.key >= $first AND e.key <= $last AND e.moment >= $moment
RETURN e.key AS key, e.moment AS moment ORDER BY e.key LIMIT 1
