"""A chain at work on batches of its logs: the kernels' counterpart of the interpreter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from whence.engine.interpreter.bounds import check_bounds
from whence.engine.interpreter.plan import Options, Plan
from whence.engine.kernels.adapter import everything_so_far
from whence.engine.kernels.batch import Batch
from whence.engine.kernels.columns.column import Column
from whence.engine.kernels.columns.lazy_ints import Counted
from whence.engine.kernels.kernel import Born, Run, State
from whence.engine.kernels.memory import keep_memory
from whence.engine.kernels.scope import KernelChain
from whence.engine.kernels.state import pack, settled, unpack
from whence.engine.kernels.trails.entries import ASKED, Entries
from whence.engine.kernels.trails.trail import Line, Nothing, Trail
from whence.engine.language.chain import Chain
from whence.engine.lineage.association import LOG_PREFIX
from whence.engine.values.limits import Budget, RunLimits, current, limited

__all__ = ["KernelWork"]


class KernelWork:
    """Runs a chain batch by batch; what it gives is found in the kept streams of its `Run`.

    Args:
        chain: what to run.
        tracked: keep what explains each output.
        closed: the logs will be closed at the end.
        steps: keep every processor's events.
        limits: what is refused beyond; those that hold now unless given.

    Attributes:
        budget: the limits with what has been used of them.
    """

    def __init__(
        self,
        chain: Chain,
        *,
        tracked: bool = True,
        closed: bool = False,
        steps: bool = False,
        limits: RunLimits | None = None,
    ) -> None:
        keep_memory()
        self.budget = Budget(limits or current())
        check_bounds(chain, self.budget.limits)
        self.chain = chain
        self.run = Run(tracked=tracked, closed=closed, steps=steps)
        run = self.run
        self.targets = [run.names.target(LOG_PREFIX + name) for name in chain.inputs]
        run.lengths = dict.fromkeys(self.targets, 0)
        options = Options(tracked, False, closed, lambda: everything_so_far(run))
        self.plan = Plan(chain, chain.input_traits(), options, keep=False)
        self.kernels = KernelChain(self.plan, run, outputs=chain.outputs)
        self.last = -1
        self._born = False

    def born_now(self) -> Born:
        """The only instance of the chain, with its first batch."""
        none = np.empty(0, np.int64)
        if self._born:
            return Born(none, none, 1)
        self._born = True
        return Born(np.zeros(1, np.int64), np.full(1, -1), 1)

    def feed(self, values: Mapping[str, Column]) -> None:
        """Let the next events of the logs arrive."""
        inputs = []
        for name, target in zip(self.chain.inputs, self.targets, strict=True):
            column = values.get(name)
            if column is None or not len(column):
                inputs.append(self.run.empty(slotted=False))
                continue
            first, count = self.run.lengths[target], len(column)
            moment = Counted(first, count)
            trail: Trail = Nothing(count)
            if self.run.tracked:
                trail = Line(target, ASKED, count, first, first)
            inputs.append(Batch(column, moment, None, trail, trail, None))
            self.run.lengths[target] = first + count
            self.last = max(self.last, first + count - 1)
        with limited(self.budget):
            self.kernels.feed(inputs, self.born_now())

    def close(self) -> None:
        """The logs are over; close them if the run was declared closed."""
        if not self._born:
            self.feed({})
        if self.run.closed:
            with limited(self.budget):
                self.kernels.close(np.zeros(1, np.int64), np.full(1, self.last))

    def end(self, output: int) -> Entries:
        """What the end of an output pipe leans on."""
        return self.kernels.end(output)

    def save(self) -> pa.RecordBatch:
        """Everything that is needed to go on elsewhere, as one row.

        Raises:
            UnsavedError: some processor runs as the interpreter does.
        """
        return pack(self.state())

    def state(self) -> State:
        """The same as a tree, for whoever keeps more beside it."""
        # In this order: following a trail may name streams and fields for the first time.
        chain = settled(self.kernels.save())
        return {
            "run": self.run.save(),
            "chain": chain,
            "last": self.last,
            "born": self._born,
        }

    def load(self, row: pa.RecordBatch) -> None:
        """Go on from what `save` gave, in a work of the same chain that was fed nothing yet."""
        self.restore(unpack(row, self.run.texts))

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state` gave."""
        self.run.load(state["run"])
        self.kernels.load(state["chain"])
        self.last = state["last"]
        self._born = state["born"]
