// Writes      Removes some events of a log or stream that was taken out of the graph
// Parameters  $first, $last: keys, both included; $page: how many at most
// Plan        index range seek on Event.key
MATCH (e:Event) USING INDEX SEEK e:Event(key)
WHERE e.key >= $first AND e.key <= $last
WITH e LIMIT $page
DETACH DELETE e
RETURN count(*) AS removed
