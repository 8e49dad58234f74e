// Question    Which spans of these streams contain one of these positions, and where do they lead?
// Parameters  $bounds: list of [number of the stream, first position, last position]
// Plan        index range seek on Span (no, lo); a head has a key and leads to itself, any other
//             span has a band
UNWIND $bounds AS bound
MATCH (s:Span) WHERE s.no = bound[0] AND s.lo <= bound[2]
  AND coalesce(s.hi, bound[2]) >= bound[1]   // without hi it is still open
OPTIONAL MATCH (s)-[r:wasDerivedFrom|wasInfluencedBy]->(t:Collection)
RETURN s.no AS no, s.lo AS lo, s.hi AS hi, s.key AS key, type(r) AS type, t.no AS to,
  r.a AS a, r.b AS b, r.sa AS sa, r.sb AS sb, r.trigger AS trigger, r.fields AS fields,
  r.copy AS copy, r.witness AS witness
