// Writes      Edges from the end of an output pipe to what it leans on
// Parameters  $rows: list of {key: integer, to: list of keys, with: map of the edges' properties}
// Plan        unique index seeks
UNWIND $rows AS row
MATCH (o:End {key: row.key})
USING INDEX SEEK o:End(key)
UNWIND row.to AS to
MATCH (i:Event {key: to})
USING INDEX SEEK i:Event(key)
CREATE (o)-[r:wasInfluencedBy]->(i) SET r = row.with
RETURN count(r) AS written
