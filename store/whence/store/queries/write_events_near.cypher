// Writes      The events of a chunk that are neither inputs nor outputs of the chain, and edges
//             of one kind to what explains them
// Parameters  $rows: list of [key, moment, value, value_digest, kind, untracked, first, last: where
//             the edges lead to, counted from $lo]; $lo, $hi: keys between which they lead to
//             events; $told: the properties of the edges
// Plan        unique index range seek, all of the range at once; nothing is written where an event
//             of it is not there
MATCH (i:Event) USING INDEX SEEK i:Event(key)
WHERE $lo <= i.key <= $hi
WITH i ORDER BY i.key
WITH collect(i) AS near
WHERE size(near) = $hi - $lo + 1
UNWIND $rows AS row
CREATE (e:Event {key: row[0], moment: row[1], value: row[2], value_digest: row[3],
  kind: row[4], untracked: row[5]})
WITH e, row, near
UNWIND range(row[6], row[7]) AS at
WITH e, near[at] AS i
CREATE (e)-[r:wasDerivedFrom $told]->(i)
RETURN count(r) AS written
