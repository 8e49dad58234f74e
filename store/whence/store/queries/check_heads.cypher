// Question    From where to where are which events heads, from this output on?
// Parameters  $no: number of the stream of heads; $first, $last: positions, both included
// Plan        index seek on (Span.no, Span.lo)
MATCH (s:Span) USING INDEX SEEK s:Span(no, lo)
WHERE s.no = $no AND s.lo >= $first AND s.lo <= $last AND s:Event
RETURN collect(s.key) AS keys, collect(s.lo) AS los, collect(coalesce(s.hi, -1)) AS his
