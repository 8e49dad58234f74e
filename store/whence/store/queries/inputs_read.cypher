// Question    What does the graph know of these input events?
// Parameters  $keys: list of integers
// Plan        unique index seeks
UNWIND $keys AS wanted
MATCH (e:Event {key: wanted})
USING INDEX SEEK e:Event(key)
RETURN e.key AS key, e.case AS case, e.activity AS activity, e.time AS time
