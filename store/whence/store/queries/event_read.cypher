// Question    What does the graph know of this event?
// Parameters  $key: integer
// Plan        unique index seek
MATCH (e:Event {key: $key})
USING INDEX SEEK e:Event(key)
RETURN e.key AS key, e.value AS value, e.kind AS kind, e.moment AS moment,
  coalesce(e.untracked, false) AS untracked
