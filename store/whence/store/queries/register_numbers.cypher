// Writes      Takes the next numbers for logs and streams; 0 belongs to the sample
// Parameters  $counter: its name, no or wide
//             $many: how many; 0 locks the counter and takes none
// Plan        the counter's node stays locked until the transaction ends
MERGE (c:Counter {name: $counter})
ON CREATE SET c.last = 0
SET c.last = c.last + $many
RETURN c.last - $many + 1 AS first
