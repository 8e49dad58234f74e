// Writes      The version of the graph
// Parameters  $version: integer
// Plan        unique index seek on Schema.name
MERGE (s:Schema {name: 'graph'})
SET s.version = $version
RETURN s.version AS version
