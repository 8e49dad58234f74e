// Question    What are these events of streams?
// Parameters  $keys: list of integers
// Plan        unique index seeks
UNWIND $keys AS wanted
MATCH (e:Event {key: wanted})
USING INDEX SEEK e:Event(key)
RETURN e.key AS key, e.value AS value, e.kind AS kind, e.moment AS moment
