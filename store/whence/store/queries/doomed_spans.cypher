// Writes      Removes some spans of a stream that was taken out of the graph
// Parameters  $no: its number; $page: how many at most
// Plan        index seek on (Span.no, Span.lo)
MATCH (s:Span) USING INDEX SEEK s:Span(no, lo)
WHERE s.no = $no AND s.lo IS NOT NULL AND NOT s:Event
WITH s LIMIT $page
DETACH DELETE s
RETURN count(*) AS removed
