// Writes      The input events of a chunk
// Parameters  $rows: list of maps, the properties of one event each, key among them
// Plan        CREATE: the chunk's marker says that they are not there yet
UNWIND $rows AS row
CREATE (e:Event:Input) SET e = row
RETURN count(e) AS written
