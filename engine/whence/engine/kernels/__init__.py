"""The processors on column batches: the meaning is the interpreter's, the speed is theirs."""
