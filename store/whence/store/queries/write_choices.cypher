// Writes      The choices that the events of a chunk meet: any one of a choice's options is enough
// Parameters  $rows: list of maps, the properties of one choice each: key, value (its options), …
// Plan        CREATE: the chunk's marker says that they are not there yet
UNWIND $rows AS row
CREATE (c:Event:Choice) SET c = row
RETURN count(c) AS written
