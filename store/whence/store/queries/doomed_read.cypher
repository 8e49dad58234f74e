// Question    Of which numbers are events still to be removed?
// Parameters  none
// Plan        scan of the label Doomed, which is mostly empty
MATCH (d:Doomed)
RETURN d.no AS no ORDER BY no
