// Question    Which spans have bands to these logs and streams?
// Parameters  $nos: list of numbers of logs and streams
// Plan        unique index seek on Collection.no, then its own relationships
UNWIND $nos AS number
MATCH (t:Collection {no: number})<-[r:wasDerivedFrom|wasInfluencedBy]-(s:Span)
USING INDEX SEEK t:Collection(no)
RETURN s.no AS no, s.lo AS lo, s.hi AS hi, type(r) AS type, t.no AS to,
  r.a AS a, r.b AS b, r.sa AS sa, r.sb AS sb, r.trigger AS trigger, r.fields AS fields,
  r.copy AS copy, r.witness AS witness
