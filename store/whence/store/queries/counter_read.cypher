// Question    Which number was the last that was given?
// Parameters  none
// Plan        unique index seek
MATCH (c:Counter {name: 'no'})
RETURN c.last AS last
