// Question    How many events, ends' edges left aside, are there in each of these ranges?
// Parameters  $ranges: list of [first key, last key], both included
// Plan        index range seeks on Event.key
UNWIND $ranges AS range
MATCH (e:Event) USING INDEX SEEK e:Event(key)
WHERE e.key >= range[0] AND e.key <= range[1]
RETURN range[0] AS first, range[1] AS last, count(e) AS events
