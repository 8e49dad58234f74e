// Question    Which spans of these streams contain one of these positions, and where do they lead?
//             (the heads of slices apart)
// Parameters  $bounds: list of [number of the stream, first position, last position]
// Plan        index range seek on Span (no, lo)
UNWIND $bounds AS bound
MATCH (s:Span) USING INDEX SEEK s:Span(no, lo)
WHERE s.no = bound[0] AND s.lo <= bound[2]
  AND coalesce(s.hi, bound[2]) >= bound[1]   // without hi it is still open
MATCH (s)-[r:wasDerivedFrom|wasInfluencedBy]->(t:Collection)
RETURN s.no AS no, s.lo AS lo, s.hi AS hi, type(r) AS type, t.no AS to,
  r.a AS a, r.b AS b, r.sa AS sa, r.sb AS sb, r.trigger AS trigger, r.fields AS fields,
  r.copy AS copy, r.witness AS witness
