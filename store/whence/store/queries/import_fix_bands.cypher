// Writes      Empty lists of fields, which the importer cannot make, on the bands of spans
// Parameters  $no: number of the stream; $first, $last: positions, both included
//             $mark: what stands for an empty list
// Plan        index seek on (Span.no, Span.lo), then one relationship each
MATCH (s:Span) USING INDEX SEEK s:Span(no, lo)
WHERE s.no = $no AND s.lo >= $first AND s.lo <= $last
MATCH (s)-[r:wasDerivedFrom|wasInfluencedBy]->(:Collection) WHERE r.fields = $mark
SET r.fields = []
RETURN count(r) AS written
