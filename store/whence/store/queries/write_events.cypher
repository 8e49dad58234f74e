// Writes      The events of a chunk that are neither inputs nor outputs of the chain
// Parameters  $rows: list of maps, the properties of one event each, key among them
// Plan        CREATE: the chunk's marker says that they are not there yet
UNWIND $rows AS row
CREATE (e:Event) SET e = row
RETURN count(e) AS written
