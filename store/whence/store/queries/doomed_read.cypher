// Question    Of which numbers are events still to be removed, all of them or single ones?
// Parameters  none
// Plan        scan of the label Doomed, which is mostly empty
MATCH (d:Doomed)
RETURN d.no AS no, d.keys AS keys ORDER BY no
