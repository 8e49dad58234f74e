"""PythonProcessor: a processor of your own, in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

from whence.engine.errors import ParameterError, WhenceError
from whence.engine.language.events import Event, Term
from whence.engine.language.processor import Machine, MachineFactory, Processor, Site
from whence.engine.language.traits import Traits
from whence.engine.lineage.tracker import Tracker
from whence.engine.values import Value, ValueFault, describe

__all__ = ["PythonProcessor", "PythonStep"]

PythonStep = Callable[..., Iterable[Value]]
"""Takes the values of one front; returns the outputs that follow from it."""


@dataclass(frozen=True)
class PythonProcessor(Processor):
    """Subclass it, set ``tag``, and return from `start` a step that keeps its own state.

    The step may call ``tracker.associate(self.id, 0, out_pos, in_pipe, in_pos)`` for the outputs
    that it is about to return; positions count from 0 per run of the processor. An output without
    any such call is explained by all inputs so far. All inputs so far support every output: what a
    step of your own depends on cannot be known better.

    >>> from dataclasses import dataclass
    >>> from whence.engine.testing import run
    >>> @dataclass(frozen=True)
    ... class Rises(PythonProcessor):
    ...     tag = "rises"
    ...     def start(self, tracker):
    ...         seen = []
    ...         def step(value):
    ...             seen.append(value)
    ...             k = len(seen) - 1
    ...             tracker.associate(self.id, 0, k, 0, k)
    ...             if k:
    ...                 tracker.associate(self.id, 0, k, 0, k - 1)
    ...             return [k > 0 and value > seen[k - 1]]
    ...         return step
    >>> run(Rises("up"), [1, 3, 2])
    [(False, {0}), (True, {0, 1}), (False, {1, 2})]
    """

    tag: ClassVar[str] = "python"

    def start(self, tracker: Tracker) -> PythonStep:
        """Begin afresh: return the step that takes each front."""
        msg = f"{type(self).__name__} {self.id!r} has no start"
        raise NotImplementedError(msg)

    def traits(self, inputs: tuple[Traits, ...], closed: bool) -> Traits:
        """Nothing is known: it may drop events and give anything."""
        return Traits(regular=False, may_be_missing=True, may_vanish=True)

    def machine(self, site: Site) -> MachineFactory:
        return lambda: _PythonMachine(site, self)


class _PythonMachine(Machine):
    """Also the tracker that the step is given: it turns its calls into terms."""

    __slots__ = ("associated", "declared", "fronts", "inputs_so_far", "step")

    def __init__(self, site: Site, declared: PythonProcessor) -> None:
        super().__init__(site)
        self.declared = declared
        self.fronts: list[tuple[Event, ...]] = []
        self.associated: dict[int, list[Event]] = {}
        self.inputs_so_far: Term = None
        self.step = declared.start(self)

    def associate(
        self, processor: str, out_pipe: int, out_pos: int, in_pipe: int, in_pos: int
    ) -> None:
        """Note what explains an output that is about to come."""
        if not self.tracked:
            return
        arrived = len(self.fronts)
        fits = out_pipe == 0 and out_pos >= self.count and 0 <= in_pos < arrived
        if not fits or not 0 <= in_pipe < len(self.site.inputs):
            msg = (
                f"{self.site.name}: expected output pipe 0, an output from {self.count} on, and an "
                f"input below {arrived}; got associate({processor!r}, {out_pipe}, {out_pos}, "
                f"{in_pipe}, {in_pos}); try positions that count from 0"
            )
            raise ParameterError(msg)
        self.associated.setdefault(out_pos, []).append(self.fronts[in_pos][in_pipe])

    def feed(self, *front: Event) -> list[Event]:
        """Give the step the values; explain each output by what it associated, else by all."""
        if self.tracked:
            self.fronts.append(front)
            self.inputs_so_far = (self.inputs_so_far, *front)
        values = self._stepped([event.value for event in front])
        outputs = []
        for value in values:
            named = self.associated.pop(self.count, None)
            why: Term = self.inputs_so_far if named is None else tuple(named)
            outputs.append(self.emit(value, why, self.inputs_so_far, self.inputs_so_far))
        return outputs

    def _stepped(self, values: list[Value]) -> list[Value]:
        try:
            return list(self.step(*values))
        except (ValueFault, WhenceError):
            raise
        except Exception as fault:
            wanted = f"its step to take {', '.join(map(describe, values))}"
            raise ValueFault(wanted, f"{type(fault).__name__}: {fault}", "its code") from fault

    def open(self) -> Term:
        """Any input could have made it say more."""
        return self.inputs_so_far
