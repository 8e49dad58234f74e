// Question    What are the events of this stretch of a stream?
// Parameters  $first, $last: keys, both included
// Plan        index range seek on Event.key
MATCH (e:Event) USING INDEX SEEK e:Event(key)
WHERE e.key >= $first AND e.key <= $last
RETURN e.key AS key, e.value AS value, e.kind AS kind, e.moment AS moment,
  coalesce(e.untracked, false) AS untracked, e.value_digest IS NOT NULL AS cut ORDER BY key
