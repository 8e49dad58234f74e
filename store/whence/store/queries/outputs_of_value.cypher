// Question    Which outputs of this stretch of a stream have one of these values?
// Parameters  $first, $last: keys, both included; $values: list; $most: how many
// Plan        index range seek on Event.key
MATCH (e:Event) USING INDEX SEEK e:Event(key)
WHERE e.key >= $first AND e.key <= $last AND e.value IN $values
RETURN e.key AS key, e.value AS value, e.kind AS kind, e.moment AS moment ORDER BY key LIMIT $most
