// Question    How many spans are there of each number?
// Parameters  none
// Plan        index scan of (Span.no, Span.lo)
MATCH (s:Span) WHERE s.no >= 0 AND s.lo IS NOT NULL
RETURN s.no AS no, sum(CASE WHEN s:Event THEN 0 ELSE 1 END) AS bands,
  sum(CASE WHEN s:Event THEN 1 ELSE 0 END) AS heads
ORDER BY no
