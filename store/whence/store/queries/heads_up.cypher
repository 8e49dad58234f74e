// Question    Which heads of slices contain one of these positions?
// Parameters  $bounds: list of [number of the stream of heads, first position, last position]
//             $page: so many positions a row, since a row costs far more than a number in it
// Plan        index range seek on Span (no, lo)
UNWIND $bounds AS bound
MATCH (s:Span) USING INDEX SEEK s:Span(no, lo)
WHERE s.no = bound[0] AND s.lo <= bound[2]
  AND coalesce(s.hi, bound[2]) >= bound[1]   // without hi it is still open
  AND s.key IS NOT NULL
RETURN s.no AS no, s.lo / $page AS page, collect(s.lo) AS los, collect(coalesce(s.hi, -1)) AS his,
  collect(s.key) AS keys
