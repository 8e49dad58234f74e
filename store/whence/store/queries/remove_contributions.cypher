// Writes      Removes the counts of a run: how many outputs each input explains
// Parameters  $prefix: text that their ids begin with
// Plan        index range seek on Contribution.id
MATCH (c:Contribution) WHERE c.id STARTS WITH $prefix
DELETE c
RETURN count(*) AS removed
