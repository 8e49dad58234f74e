// Writes      Nothing of this number is left
// Parameters  $no: the number
// Plan        scan of the label Doomed, which is mostly empty
MATCH (d:Doomed {no: $no}) WHERE d.keys IS NULL
DELETE d
RETURN count(*) AS removed
