// Question    How many positions of each log and stream are in one of its chunks?
// Parameters  none
// Plan        index range seeks on Collection.no and End.key
CALL () {
  MATCH (c:Collection) WHERE c.no >= 0
  RETURN c.id AS id, c.no AS no, false AS end,
    coalesce(head([(c)-[:wasGeneratedBy]->(r:Run) | r.chunk * c.w]), c.chunk) AS width
  UNION
  MATCH (e:End) WHERE e.key >= 0
  RETURN e.id AS id, e.no AS no, true AS end, 1 AS width
}
RETURN id, no, end, width
