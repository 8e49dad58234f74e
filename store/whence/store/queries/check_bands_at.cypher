// Question    Which spans with bands begin at these places?
// Parameters  $places: list of [number of the stream, position]
// Plan        index seeks on (Span.no, Span.lo), then one relationship each
UNWIND $places AS place
MATCH (s:Span) USING INDEX SEEK s:Span(no, lo)
WHERE s.no = place[0] AND s.lo = place[1] AND NOT s:Event
OPTIONAL MATCH (s)-[r:wasDerivedFrom|wasInfluencedBy]->(t:Collection)
RETURN type(r) AS type, properties(r) AS properties, s.no AS no, s.lo AS lo, s.hi AS hi,
  t.no AS to
