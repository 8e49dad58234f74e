// Question    Which edges leave these events, those of one kind together?
// Parameters  $keys: list of integers
// Plan        unique index seeks, then the events' own relationships
UNWIND $keys AS wanted
MATCH (o:Event {key: wanted})-[r:wasDerivedFrom|wasInfluencedBy]->(e:Event)
USING INDEX SEEK o:Event(key)
RETURN type(r) AS type, properties(r) AS properties,
  collect(o.key) AS sources, collect(e.key) AS targets
