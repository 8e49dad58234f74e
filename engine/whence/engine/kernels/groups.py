"""Which neighbouring processors are logic and X alone, so that they can run as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from whence.engine.functions.base import Function
from whence.engine.interpreter.plan import Pipe, Plan
from whence.engine.kernels.expressions.functions.logic import FUNCTIONS
from whence.engine.kernels.segments import readers_of
from whence.engine.language.expression import Call, Expression, Field, Input
from whence.engine.language.processor import Processor
from whence.engine.palettes.ltl import X
from whence.engine.processors import ApplyFunction

__all__ = ["Group", "Leaf", "Made", "groups_of"]

_MOST_LEAVES = 10
_MOST_STEPS = 100
_MOST_ROWS = 2**16


class Leaf(NamedTuple):
    """A condition that a group looks at.

    Attributes:
        input: the pipe that it is read from, by number.
        field: the field of the event, or ``None`` for the event itself.
        later: how many events later.
    """

    input: int
    field: str | None
    later: int


class Made(NamedTuple):
    """A condition that is made of others.

    Attributes:
        function: by which function.
        parts: of which, by number.
    """

    function: Function
    parts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Processors of a plan that are run as one.

    Attributes:
        steps: their numbers, in order; the output of the last is read by others.
        inputs: the pipes that they read.
        leaves: the conditions that they look at.
        delay: how many events later the last of them is.
        conditions: those and what is made of them, parts first; the last is the output.
    """

    steps: tuple[int, ...]
    inputs: tuple[Pipe, ...]
    leaves: tuple[Leaf, ...]
    delay: int
    conditions: tuple[Leaf | Made, ...]


def groups_of(plan: Plan) -> list[Group]:
    """The groups of a plan, none of which share a processor."""
    fits = [_is_logic(step.processor) for step in plan.steps]
    readers = readers_of(plan)
    taken: set[int] = set()
    found = []
    for root in reversed(range(len(plan.steps))):
        if fits[root] and root not in taken:
            steps = {root}
            for number in reversed(range(root)):
                read = readers.get((number, 0), set())
                if fits[number] and read and read <= steps:
                    steps.add(number)
            taken |= steps
            group = _group(plan, root, steps)
            if group is not None:
                found.append(group)
    return found


def _is_logic(processor: Processor) -> bool:
    if isinstance(processor, X):
        return True
    if type(processor) is not ApplyFunction:
        return False
    return _reads_conditions(processor.expression)


def _reads_conditions(expression: Expression) -> bool:
    """Whether an expression is a field, or logic over fields and whole events."""
    if isinstance(expression, Field):
        return True
    return (
        isinstance(expression, Call)
        and not expression.function.path
        and expression.function.name in FUNCTIONS
        and all(isinstance(a, Input) or _reads_conditions(a) for a in expression.arguments)
    )


class _Reading:
    """Finds out what some processors look at, and how they put it together."""

    def __init__(self, plan: Plan, steps: set[int]) -> None:
        self.plan = plan
        self.steps = steps
        self.inputs: dict[Pipe, int] = {}
        self.numbers: dict[Leaf | Made, int] = {}
        self.simple = True  # as long as no field of a verdict is asked for

    def number(self, found: Leaf | Made) -> int:
        return self.numbers.setdefault(found, len(self.numbers))

    def read(self, pipe: Pipe, later: int, field: str | None = None) -> int:
        """What a pipe holds so many events later."""
        if pipe[0] not in self.steps:
            return self.number(Leaf(self.inputs.setdefault(pipe, len(self.inputs)), field, later))
        self.simple &= field is None
        step = self.plan.steps[pipe[0]]
        if isinstance(step.processor, X):
            return self.read(step.sources[0], later + 1)
        assert isinstance(step.processor, ApplyFunction)
        return self.put_together(step.processor.expression, step.sources, later)

    def put_together(self, expression: Expression, sources: Sequence[Pipe], later: int) -> int:
        if isinstance(expression, Field):
            return self.read(sources[expression.pipe], later, expression.name)
        if isinstance(expression, Input):
            return self.read(sources[expression.pipe], later)
        assert isinstance(expression, Call)
        parts = [self.put_together(part, sources, later) for part in expression.arguments]
        return self.number(Made(expression.function, tuple(parts)))


def _group(plan: Plan, root: int, steps: set[int]) -> Group | None:
    reads = [plan.steps[number] for number in steps]
    if len(steps) < 2 or len(steps) > _MOST_STEPS:
        return None
    if isinstance(getattr(plan.steps[root].processor, "expression", None), Field):
        return None  # it says what it reads, be it missing, and no verdict
    reading = _Reading(plan, steps)
    reading.read((root, 0), 0)
    sources = {source for step in reads for source in step.sources if source[0] not in steps}
    if not reading.simple or sources != reading.inputs.keys():
        return None  # a pipe may be waited for, but not looked at
    leaves = [leaf for leaf in reading.numbers if isinstance(leaf, Leaf)]
    delay = max(leaf.later for leaf in leaves)
    too_many = len(leaves) > _MOST_LEAVES or (delay + 1) << len(leaves) > _MOST_ROWS
    if too_many or not all(plan.traits_of(pipe).regular for pipe in reading.inputs):
        return None
    numbers = tuple(reading.numbers)
    return Group(tuple(sorted(steps)), tuple(reading.inputs), tuple(leaves), delay, numbers)
