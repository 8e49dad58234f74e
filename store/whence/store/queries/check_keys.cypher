// Question    Which of these events are there?
// Parameters  $keys: list of integers
// Plan        unique index seeks
UNWIND $keys AS wanted
MATCH (e:Event {key: wanted})
USING INDEX SEEK e:Event(key)
RETURN collect(e.key) AS keys
