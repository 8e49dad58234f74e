// Writes      How many outputs of a run each input explains, a block of input events a node
// Parameters  $run: id of the run; $blocks: list of {id: "RUN/number of the log/number of the
//             block", run, no, first: the position of its first event, counts: list of integers}
// Plan        unique index seeks
MATCH (run:Run {id: $run})
CALL () {
  UNWIND $blocks AS block
  MERGE (c:Contribution {id: block.id}) SET c += block
}
SET run.counted = true
RETURN run.id AS id
