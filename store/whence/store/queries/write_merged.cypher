// Writes      Events of a log that outputs lead to, unless they are there: another run may need them
// Parameters  $rows: list of maps, the properties of one event each; $kind: inputs, outputs, events
// Plan        unique index seek an event; sorted by key, so that writers seldom collide
UNWIND $rows AS row
MERGE (e:Event {key: row.key})
ON CREATE SET e += row
FOREACH (_ IN CASE WHEN $kind = 'inputs' THEN [1] ELSE [] END | SET e:Input)
FOREACH (_ IN CASE WHEN $kind = 'outputs' THEN [1] ELSE [] END | SET e:Output)
RETURN count(e) AS written
