// Writes      Removes single events that nobody needs any more
// Parameters  $keys: list of integers; $id: of what said that they might go
// Plan        unique index seeks
MATCH (d:Doomed) WHERE elementId(d) = $id
DELETE d
WITH count(*) AS done
CALL () {
  UNWIND $keys AS key
  MATCH (e:Event {key: key})
  USING INDEX SEEK e:Event(key)
  DETACH DELETE e
  RETURN count(*) AS removed
}
RETURN removed
