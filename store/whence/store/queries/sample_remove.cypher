// Writes      Removes the sample events and their edges, nothing else
// Parameters  none
// Plan        scan of the label Sample
MATCH (e:Sample)
DETACH DELETE e
RETURN count(*) AS removed
