// Question    Which events before this one, in its stream, have its value, the last ones first?
// Parameters  $first: key of the stream's first event; $key: the event; $most: how many
//             $value: its value; $kind: the kind of its value, or an empty text
// Plan        index range seek on Event.key, from the last to the first
MATCH (e:Event) USING INDEX SEEK e:Event(key)
WHERE e.key >= $first AND e.key <= $key
  AND e.value = $value AND coalesce(e.kind, '') = $kind
RETURN e.key AS key, e.moment AS moment ORDER BY e.key DESC LIMIT $most
