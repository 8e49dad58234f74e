// Question    Which runs read these logs or streams, and which run made them?
// Parameters  $nos: list of numbers of logs and streams
// Plan        unique index seeks, then the collections' own relationships
UNWIND $nos AS no
MATCH (c:Collection {no: no})
RETURN no, c.id AS id,
  [(r:Run)-[:used]->(c) | r.id] AS readers,
  [(c)-[:wasGeneratedBy]->(r:Run) | r.id] AS makers,
  [(c)-[:wasRevisionOf]->(old:Log) | old.id] AS revises,
  [(new:Log)-[:wasRevisionOf]->(c) | new.id] AS revised
