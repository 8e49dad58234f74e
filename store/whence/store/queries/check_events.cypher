// Question    Which events are there in this range, from its beginning?
// Parameters  $first, $last: keys, both included; $page: how many at most
// Plan        index range seek on Event.key, in its order
MATCH (e:Event) USING INDEX SEEK e:Event(key)
WHERE e.key >= $first AND e.key <= $last
WITH e.key AS key ORDER BY key LIMIT $page
RETURN collect(key) AS keys
