// Question    Which number was the last that was given?
// Parameters  $counter: its name, no or wide
// Plan        unique index seek
MATCH (c:Counter {name: $counter})
RETURN c.last AS last
