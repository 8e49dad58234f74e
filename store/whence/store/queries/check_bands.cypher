// Question    Which spans with bands begin in this range of a stream?
// Parameters  $no: number of the stream; $first, $last: positions, both included
// Plan        index seek on (Span.no, Span.lo), then one relationship each
MATCH (s:Span) USING INDEX SEEK s:Span(no, lo)
WHERE s.no = $no AND s.lo >= $first AND s.lo <= $last AND NOT s:Event
OPTIONAL MATCH (s)-[r:wasDerivedFrom|wasInfluencedBy]->(t:Collection)
RETURN type(r) AS type, properties(r) AS properties, s.no AS no, s.lo AS lo, s.hi AS hi,
  t.no AS to
