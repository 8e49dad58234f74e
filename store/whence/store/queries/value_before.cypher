// Question    Which is the last event before this one, in its stream, with another value?
// Parameters  $first: key of the stream's first event; $key: the event
//             $value: its value; $kind: the kind of its value, or an empty text
// Plan        index range seek on Event.key, from the last to the first
MATCH (e:Event) USING INDEX SEEK e:Event(key)
WHERE e.key >= $first AND e.key < $key
  AND (e.value <> $value OR coalesce(e.kind, '') <> $kind)
RETURN e.key AS key ORDER BY e.key DESC LIMIT 1
