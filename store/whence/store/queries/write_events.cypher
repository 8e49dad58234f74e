// Writes      The events of a chunk that are neither inputs nor outputs of the chain, and their edges
// Parameters  $rows: list of [key, moment, value, value_digest, kind, untracked,
//             list of [which of $kinds, list of keys]]; $kinds: list of maps, properties of edges
// Plan        CREATE: the chunk's marker says that they are not there yet; all of them, then a
//             unique index seek an edge: an edge may lead to another event of the chunk
UNWIND $rows AS row
CREATE (e:Event {key: row[0], moment: row[1], value: row[2], value_digest: row[3],
  kind: row[4], untracked: row[5]})
WITH e, row
UNWIND row[6] AS edges
WITH e, edges[1] AS keys, $kinds[edges[0]] AS told
UNWIND keys AS to
MATCH (i:Event {key: to})
USING INDEX SEEK i:Event(key)
CREATE (e)-[r:wasDerivedFrom {trigger: told.trigger, fields: told.fields, copy: told.copy,
  witness: told.witness}]->(i)
RETURN count(r) AS written
