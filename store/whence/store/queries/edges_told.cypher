// Question    Where do the events of these ranges lead to, and how: fields, copies, relation?
// Parameters  $ranges: list of [first key, last key], both included
//             $trigger, $supports: whether edges so marked, or of that kind, are wanted
//             $every: whether every option of a choice is followed, or only the first
// Plan        index range seek, then the events' own relationships: linear in what it returns
UNWIND $ranges AS range
MATCH (o:Event) USING INDEX SEEK o:Event(key)
WHERE o.key >= range[0] AND o.key <= range[1]
MATCH (o)-[r:wasDerivedFrom|wasInfluencedBy]->(e:Event)
WHERE ($trigger OR r.trigger IS NULL) AND ($supports OR type(r) = 'wasDerivedFrom')
  AND ($every OR r.witness IS NULL OR 0 IN r.witness)
RETURN o.key AS source, type(r) AS type, r.trigger AS trigger, r.fields AS fields, r.copy AS copy,
  r.witness AS witness, collect(e.key) AS targets
