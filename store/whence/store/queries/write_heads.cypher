// Writes      From where to where an inner event is the head of its slice
// Parameters  $rows: list of {key: integer, span: map (no, lo and, once it has ended, hi)}
// Plan        unique index seek; a head of something else is left alone and missed in the count.
//             No OR over two properties, and a hint for the seek: while the server has counted no
//             events yet, a scan of the index for every row would cost the planner as little
UNWIND $rows AS row
MATCH (e:Event {key: row.key})
USING INDEX SEEK e:Event(key)
WHERE coalesce(e.no, row.span.no) = row.span.no AND coalesce(e.lo, row.span.lo) = row.span.lo
SET e:Span, e += row.span
RETURN count(e) AS written
