// Question    Which single events may be removed now?
// Parameters  none
// Plan        scan of the label Doomed, which is mostly empty; not while a run that reads their log
//             is being loaded
MATCH (d:Doomed) WHERE d.keys IS NOT NULL
OPTIONAL MATCH (c:Collection {no: d.no})
WITH d, c WHERE c IS NULL
  OR NOT EXISTS { MATCH (c)<-[:used]-(r:Run) WHERE NOT coalesce(r.loaded, false) }
RETURN elementId(d) AS id, c.id AS log, d.keys AS keys LIMIT 1
