// Question    What did these outputs say, and when?
// Parameters  $ranges: list of [first key, last key], both included, a page each: one row a page,
//             since a row costs far more than a value in it
// Plan        index range seek
UNWIND $ranges AS range
MATCH (e:Event) USING INDEX SEEK e:Event(key)
WHERE e.key >= range[0] AND e.key <= range[1]
WITH range, e ORDER BY e.key
RETURN range[0] AS first, collect(e.key) AS keys, collect(e.moment) AS moments,
  collect([e.value, e.kind, e.value_digest]) AS values
