"""The progress of a stream, stored so that it is complete for one of Spark's batches.

Spark numbers its batches, writes down what belongs to each before it hands it over, and hands the
last one over again if it was killed. Beside Spark's own notes lies one file for each batch: the
state of everything after it, or after the first rows of it. It is put in its place in one step,
after everything that it takes for written; that step is the commit. At a URI, too, it is one file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from whence.engine.errors import RunnerError
from whence.engine.kernels.columns.texts import Texts
from whence.engine.kernels.state import read_state, write_state
from whence.engine.record.files import remove_tree, whole_file
from whence.engine.record.remote import RemotePath
from whence.engine.runners.stream.checkpoints import Checkpoint

__all__ = ["Commits", "Reached"]

_KEPT = 2
"""Number of states to store, the latest included."""


class Reached:
    """How far a stream has come.

    Attributes:
        batch: the number of the batch that was handed over last; -1 before the first.
        rows: how many of its rows were taken.
        over: whether these were all.
        ending: nothing more is to be read, whatever arrives.
        query: Spark's name for the query whose batches these are.
    """

    def __init__(self) -> None:
        self.batch = -1
        self.rows = 0
        self.over = True
        self.ending = False
        self.query = ""

    def skipped(self, run: str, batch: int) -> int | None:
        """How many rows of a batch were taken already; ``None`` if that is all of them.

        Raises:
            RunnerError: the batch is neither the last one again nor the next one.
        """
        if batch == self.batch:
            return None if self.over else self.rows
        if batch < self.batch and self.over:
            return None
        if batch != self.batch + 1 or not self.over:
            msg = (
                f"run {run}: expected Spark's batch {self.batch + self.over}; got batch {batch}, "
                "so that its checkpoint and the state do not belong together; try a new run"
            )
            raise RunnerError(msg)
        self.batch, self.rows, self.over = batch, 0, False
        return 0


class Commits:
    """The states of one run, and the place of Spark's own notes.

    Attributes:
        folder: where both are; deleted when the run is complete.
        checkpoint: Spark's notes.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.checkpoint = Checkpoint(folder / "checkpoint")

    def keep(self, reached: Reached, state: Mapping[str, object]) -> None:
        """Put a state in its place durably, and remove those that are no longer needed."""
        told = {**state, "reached": dict(vars(reached))}
        path = self.folder / f"state-{reached.batch + 1:010d}.arrow"
        whole_file(path, lambda beside: write_state(beside, told))
        if not isinstance(self.folder, RemotePath):
            folder = os.open(self.folder, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        for old in self._states()[:-_KEPT]:
            old.unlink()

    def latest(self, texts: Texts, reached: Reached) -> dict[str, Any] | None:
        """The state that was stored last, if there is one."""
        for left in self.folder.glob(".*.part"):
            left.unlink()  # of a file that was being written when the run was stopped
        states = self._states()
        if not states:
            return None
        state = read_state(states[-1], texts)
        for name, value in state["reached"].items():
            setattr(reached, name, value)
        return state

    def _states(self) -> list[Path]:
        return sorted(self.folder.glob("state-*.arrow"))

    def remove(self) -> None:
        self.checkpoint.remove()
        remove_tree(self.folder)
