// Question    From where do edges lead to the events of these ranges, one step, by every option?
// Parameters  $ranges: list of [first key, last key], both included, a page each: one row a page,
//             since a row costs far more than a number in it
//             $trigger, $supports: whether edges so marked, or of that kind, are wanted
// Plan        index range seek, then the events' own relationships: linear in what it returns
UNWIND $ranges AS range
MATCH (o:Event) USING INDEX SEEK o:Event(key)
WHERE o.key >= range[0] AND o.key <= range[1]
MATCH (o)<-[r:wasDerivedFrom|wasInfluencedBy]-(e:Event)
WHERE ($trigger OR r.trigger IS NULL) AND ($supports OR type(r) = 'wasDerivedFrom')
RETURN collect(o.key) AS sources, collect(e.key) AS targets,
  collect(coalesce(r.witness, [])) AS options, range[0] AS first
