// Writes      From where to where an inner event is the head of its slice
// Parameters  $rows: list of {key: integer, span: map (no, lo and, once it has ended, hi)}
// Plan        unique index seek; a head of something else is left alone and missed in the count
UNWIND $rows AS row
MATCH (e:Event {key: row.key})
WHERE e.lo IS NULL OR (e.no = row.span.no AND e.lo = row.span.lo)
SET e:Span, e += row.span
RETURN count(e) AS written
