// Question    Which of the events of these ranges are heads of slices, from where to where?
// Parameters  $ranges: list of [first key, last key], both included
// Plan        index range seek on Event.key
UNWIND $ranges AS range
MATCH (e:Event) USING INDEX SEEK e:Event(key)
WHERE e.key >= range[0] AND e.key <= range[1] AND e:Span
RETURN e.key AS key, e.no AS no, e.lo AS lo, e.hi AS hi
