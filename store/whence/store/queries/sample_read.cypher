// Question    Which sample outputs are there, and what is their value?
// Parameters  none
// Plan        scan of the label Sample, which marks a handful of nodes
MATCH (e:Sample&Output)
RETURN e.key AS key, e.value AS value ORDER BY key
