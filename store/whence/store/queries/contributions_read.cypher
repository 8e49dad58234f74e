// Question    How many outputs of a run does each input event explain?
// Parameters  $ids: list of "RUN/number of the log/number of the block"
// Plan        unique index seeks
UNWIND $ids AS wanted
MATCH (c:Contribution {id: wanted})
USING INDEX SEEK c:Contribution(id)
RETURN c.no AS no, c.first AS first, c.counts AS counts
