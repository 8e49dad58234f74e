"""Change inputs outside a support, run again, compare: the brute-force test of the guarantee."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.engine.corruptor import Cell, Corruptor, equal
from tests.engine.random_chains import Case
from whence.engine.errors import WhenceError
from whence.engine.interpreter import RunResult, interpret
from whence.engine.language.chain import Chain
from whence.engine.lineage.tracker import MemoryTracker, Witnesses

__all__ = ["Attack", "Broken", "values_of"]


@dataclass(frozen=True)
class Broken:
    """A promise that did not hold."""

    promise: str
    output: tuple[str, int]
    before: object
    after: object
    changed: dict[Cell, tuple[object, object]]


def values_of(result: RunResult) -> dict[str, list[object]]:
    """Output values by pipe."""
    return {
        name: [output.value for output in result.of(name)]
        for name in result.interpreter.chain.outputs
    }


@dataclass
class Attack:
    """A tracked run of a case, and ways to break what it promises."""

    case: Case
    random: Random
    witnesses: Witnesses = "first"
    by_field: bool = False
    chain: Chain = field(init=False)
    result: RunResult = field(init=False)
    values: dict[str, list[object]] = field(init=False)
    supports: dict[tuple[str, int], frozenset[Cell]] = field(init=False)
    open: dict[str, frozenset[Cell]] = field(init=False)
    cells: list[Cell] = field(init=False)

    def __post_init__(self) -> None:
        """Run once, tracked; raises what the chain raises."""
        self.chain = self.case.chain()
        tracker = MemoryTracker(self.witnesses)
        self.result = interpret(
            self.chain, self.case.logs, tracker=tracker, closed=self.case.closed
        )
        self.values = values_of(self.result)
        self.supports = {
            (name, k): self._cells(self.result.explain(k, name).support)
            for name, values in self.values.items()
            for k in range(len(values))
        }
        interpreter = self.result.interpreter
        self.open = {name: self._cells(interpreter.open_inputs(name)) for name in self.values}
        self.corruptor = Corruptor(self.case, self.random)
        self.cells = self.corruptor.cells

    def _cells(self, inputs: Mapping[Any, frozenset[str] | None]) -> frozenset[Cell]:
        """The cells that a support holds fixed: whole events, or just the fields it names."""
        found: set[Cell] = set()
        for (log, position), fields in inputs.items():
            event = self.case.logs[log][position]
            if not isinstance(event, dict):
                # `value` names the event itself.
                if fields is None or fields or not self.by_field:
                    found.add((log, position, None))
            else:
                named = event if fields is None or not self.by_field else fields
                found.update((log, position, name) for name in named)
        return frozenset(found)

    def run_again(self, cells: Iterable[Cell]) -> Broken | dict[tuple[str, int], bool] | None:
        """Change some cells and compare.

        Returns:
            What broke; or, per output, whether it was the same; ``None`` if nothing was changed or
            the chain failed, which is outside the guarantee.
        """
        logs, changed = self.corruptor.corrupt(cells)
        if not changed:
            return None
        try:
            after = values_of(interpret(self.chain, logs, closed=self.case.closed))
        except WhenceError:
            return None
        touched = set(changed)
        same: dict[tuple[str, int], bool] = {}
        for name, values in self.values.items():
            for k, value in enumerate(values):
                there = k < len(after[name])
                same[name, k] = there and equal(value, after[name][k])
                if not same[name, k] and self.guaranteed((name, k), touched):
                    new = after[name][k] if there else "(vanished)"
                    return Broken("support is enough", (name, k), value, new, changed)
            if len(after[name]) > len(values) and not touched & self.open[name]:
                k = len(values)
                return Broken("nothing appears", (name, k), "(none)", after[name][k], changed)
        return same

    def guaranteed(self, output: tuple[str, int], changed: Iterable[Cell]) -> bool:
        """Whether an output is promised to stay as it is, if these cells change.

        With all witnesses kept, one untouched support of any of them is enough.
        """
        if self.witnesses == "first":
            return self.supports[output].isdisjoint(changed)
        name, k = output
        return self.result.explain(k, name).stands({(log, at) for log, at, _ in changed})

    def choices(self) -> Iterator[list[Cell]]:
        """What to change, without end: all outside one output's support, some of it, one cell.

        With all witnesses kept also what the first one needs, so that the others are put to use.
        """
        outputs = list(self.supports)
        while self.cells:
            how = self.random.randrange(5 if self.witnesses == "first" else 8)
            if how > 4 and outputs:
                support = self.supports[self.random.choice(outputs)]
                several = [c for c in self.cells if c in support]
                yield self.random.sample(several, min(len(several), self.random.choice((1, 1, 2))))
                continue
            if how == 0 or not outputs:
                everything = frozenset().union(*self.supports.values(), *self.open.values())
                yield [c for c in self.cells if c not in everything]
                how = 3
            if how in (1, 2) and outputs:
                support = self.supports[self.random.choice(outputs)]
                outside = [c for c in self.cells if c not in support]
                share = 1.0 if how == 1 else self.random.random()
                yield [c for c in outside if self.random.random() < share]
            elif how == 3:
                free = frozenset().union(*self.open.values())
                outside = [c for c in self.cells if c not in free]
                yield [c for c in outside if self.random.random() < 0.5]
            else:
                yield [self.random.choice(self.cells)]
