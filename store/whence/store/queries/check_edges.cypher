// Question    Which edges leave the events of this range, those of one kind together?
// Parameters  $first, $last: keys, both included
// Plan        index range seek on Event.key, then the events' own relationships
MATCH (o:Event) USING INDEX SEEK o:Event(key)
WHERE o.key >= $first AND o.key <= $last
MATCH (o)-[r:wasDerivedFrom|wasInfluencedBy]->(e:Event)
RETURN type(r) AS type, properties(r) AS properties,
  collect(o.key) AS sources, collect(e.key) AS targets
