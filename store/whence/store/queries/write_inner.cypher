// Writes      Events of other streams that selected outputs lead to; their edges come afterwards
// Parameters  $rows: list of maps, the properties of one event each: key, moment, value, …
// Plan        CREATE: the chunk's marker says that they are not there yet
UNWIND $rows AS row
CREATE (e:Event) SET e = row
RETURN count(e) AS written
