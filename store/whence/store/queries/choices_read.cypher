// Question    Which choices are there in these ranges, and how many options has each?
// Parameters  $ranges: list of [first key, last key], both included
// Plan        index range seek on Event.key
UNWIND $ranges AS range
MATCH (c:Event) USING INDEX SEEK c:Event(key)
WHERE c.key >= range[0] AND c.key <= range[1] AND c:Choice
RETURN c.key AS key, c.value AS options
