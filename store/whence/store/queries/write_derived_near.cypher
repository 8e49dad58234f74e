// Writes      Edges of one kind from events of a chunk to what explains them
// Parameters  $rows: list of [key, first, last: where the edges lead to, counted from $lo]; $lo,
//             $hi: keys between which they lead to events; $told: the properties of the edges
// Plan        unique index range seek, all of the range at once, and a unique index seek a row;
//             nothing is written where an event of the range is not there
MATCH (i:Event) USING INDEX SEEK i:Event(key)
WHERE $lo <= i.key <= $hi
WITH i ORDER BY i.key
WITH collect(i) AS near
WHERE size(near) = $hi - $lo + 1
UNWIND $rows AS row
MATCH (e:Event {key: row[0]})
USING INDEX SEEK e:Event(key)
UNWIND range(row[1], row[2]) AS at
WITH e, near[at] AS i
CREATE (e)-[r:wasDerivedFrom $told]->(i)
RETURN count(r) AS written
