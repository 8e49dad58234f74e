// Question    Which edges leave the ends of pipes in this range, those of one kind together?
// Parameters  $first, $last: keys, both included
// Plan        index range seek on End.key, then the ends' own relationships
MATCH (o:End) USING INDEX SEEK o:End(key)
WHERE o.key >= $first AND o.key <= $last
MATCH (o)-[r:wasInfluencedBy]->(e:Event)
RETURN type(r) AS type, properties(r) AS properties,
  collect(o.key) AS sources, collect(e.key) AS targets
