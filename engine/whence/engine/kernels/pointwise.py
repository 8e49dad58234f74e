"""Functions one after the other at once: a batch goes through all of them as one column.

Each is computed from the values of the one before; no fronts are put together and no batch is made
in between. Where a value does not fit, the processors take that batch one by one, so that the one
that fails is told with its position.
"""

from __future__ import annotations

from collections.abc import Sequence

from whence.engine.interpreter.plan import Pipe, Plan, Step
from whence.engine.kernels.batch import Batch
from whence.engine.kernels.expressions.functions.base import BadRow
from whence.engine.kernels.processors.apply_function import Apply
from whence.engine.kernels.segments import readers_of
from whence.engine.language.expression import Call, Expression
from whence.engine.processors import ApplyFunction

__all__ = ["Pointwise", "lines_of"]


class Pointwise:
    """Some neighbouring functions of one event at work as one.

    Args:
        steps: their numbers in the plan.
        source: the pipe that the first reads.
        kernels: each of them alone.
    """

    def __init__(self, steps: Sequence[int], source: Pipe, kernels: Sequence[Apply]) -> None:
        """Nothing is kept from one batch to the next, but how many events there were."""
        self.steps = tuple(steps)
        self.sources: tuple[Pipe, ...] = (source,)
        self.kernels = tuple(kernels)
        self.functions = tuple(kernel.function for kernel in kernels)
        self.rests = kernels[0].tracked and not kernels[0].regular

    def feed(self, arrived: Sequence[Batch]) -> Batch | None:
        """What the last function says of every event; ``None`` if a value does not fit."""
        (batch,) = arrived
        if not len(batch):
            return None
        values, reasons = batch.values, batch.reasons
        exists = batch.exists if self.rests else None
        count = len(batch)
        try:
            for function in self.functions:
                if not function.once:
                    values = values.held()
                found = function.follow([values], [reasons], count)
                values, reasons = found.values, found.reasons.leaning(exists)
        except BadRow:
            return None
        for kernel in self.kernels:
            kernel.fed += count
        reasons = reasons._replace(exists=exists)
        return Batch(values.held(), batch.moment, batch.slot, *reasons)


def lines_of(plan: Plan, kept: Sequence[bool]) -> list[tuple[int, ...]]:
    """Neighbouring functions of a plan, two at least, each read by the next one alone.

    Args:
        plan: where they stand.
        kept: for each step, whether the record keeps its events.
    """
    readers = readers_of(plan)
    found: list[list[int]] = []
    for number, step in enumerate(plan.steps):
        if not _is_function(step):
            continue
        before = (number - 1, 0)
        goes_on = bool(found) and found[-1][-1] == number - 1 and step.sources == (before,)
        if goes_on and readers[before] == {number} and not kept[number - 1]:
            found[-1].append(number)
        else:
            found.append([number])
    return [tuple(line) for line in found if len(line) > 1]


def _is_function(step: Step) -> bool:
    processor = step.processor
    if type(processor) is not ApplyFunction or len(step.sources) != 1:
        return False
    return _may_run_again(processor.expression)


def _may_run_again(expression: Expression) -> bool:
    """Whether nobody notices that it is computed twice: a user's function might."""
    if not isinstance(expression, Call):
        return True
    return not expression.function.path and all(_may_run_again(a) for a in expression.arguments)
