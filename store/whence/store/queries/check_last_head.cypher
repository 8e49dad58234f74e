// Question    From which output on is there a head that began last?
// Parameters  $no: number of the stream of heads
// Plan        index seek on (Span.no, Span.lo)
MATCH (s:Span) USING INDEX SEEK s:Span(no, lo)
WHERE s.no = $no AND s.lo >= 0
RETURN max(s.lo) AS last
