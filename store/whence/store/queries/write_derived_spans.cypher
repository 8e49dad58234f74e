// Writes      Spans of outputs, each with its band: what explains them
// Parameters  $rows: list of {span: map (no, lo, hi), to: number of the log or stream,
//             with: map (a, b, sa, sb and what else the relationship has)}
// Plan        unique index seek on Collection.no
UNWIND $rows AS row
MATCH (t:Collection {no: row.to})
USING INDEX SEEK t:Collection(no)
CREATE (s:Span)-[r:wasDerivedFrom]->(t) SET s = row.span, r = row.with
RETURN count(r) AS written
