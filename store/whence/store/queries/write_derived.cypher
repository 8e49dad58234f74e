// Writes      Edges from events of a chunk to what explains them
// Parameters  $rows: list of {key: integer, to: list of keys, with: map of the edges' properties}
// Plan        two unique index seeks an edge; rows sorted by key, so that writers seldom collide
UNWIND $rows AS row
MATCH (o:Event {key: row.key})
USING INDEX SEEK o:Event(key)
UNWIND row.to AS to
MATCH (i:Event {key: to})
USING INDEX SEEK i:Event(key)
CREATE (o)-[r:wasDerivedFrom]->(i) SET r = row.with
RETURN count(r) AS written
