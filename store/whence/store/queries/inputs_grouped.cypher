// Question    How many of these input events are there by case, or by activity?
// Parameters  $ranges: list of [first key, last key], both included
//             $by: case or activity
// Plan        index range seek on Event.key
UNWIND $ranges AS range
MATCH (e:Event) USING INDEX SEEK e:Event(key)
WHERE e.key >= range[0] AND e.key <= range[1]
RETURN e[$by] AS group, count(*) AS events
