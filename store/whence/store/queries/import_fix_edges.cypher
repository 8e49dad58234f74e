// Writes      Empty lists of fields, which the importer cannot make, on edges of events and ends
// Parameters  $first, $last: keys, both included; $mark: what stands for an empty list
// Plan        index range seeks on Event.key and End.key, then their own relationships
CALL () {
  MATCH (o:Event) USING INDEX SEEK o:Event(key)
  WHERE o.key >= $first AND o.key <= $last
  MATCH (o)-[r:wasDerivedFrom|wasInfluencedBy]->(:Event) WHERE r.fields = $mark
  RETURN r
  UNION
  MATCH (o:End) USING INDEX SEEK o:End(key)
  WHERE o.key >= $first AND o.key <= $last
  MATCH (o)-[r:wasInfluencedBy]->(:Event) WHERE r.fields = $mark
  RETURN r
}
SET r.fields = []
RETURN count(r) AS written
