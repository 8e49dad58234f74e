"""Other values for some cells of a case's logs: of the log, of the chain, or any."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from random import Random
from typing import Any

from tests.engine.random_chains import Case, Logs
from whence.engine.values.slice_map import SliceMap

__all__ = ["Cell", "Changed", "Corruptor", "equal"]

Cell = tuple[str, int, str | None]
"""A log, a position and a field; ``None`` for an event that is no record."""
Changed = dict[Cell, tuple[object, object]]
"""What was changed: the old value and the new one."""


def equal(left: object, right: object) -> bool:
    """Equal as outputs are: numbers by value, never a boolean with a number, NaN with NaN."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, float) and isinstance(right, float) and math.isnan(left):
        return math.isnan(right)
    if isinstance(left, SliceMap) and isinstance(right, SliceMap):
        return equal(left.pairs(), right.pairs())
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        names = set(left) | set(right)
        return all(equal(left.get(n), right.get(n)) for n in names)
    return bool(left == right)


def constants(tree: Any) -> Iterator[object]:
    """The chain's own constants and guard values; names among them do no harm."""
    stack = [tree]
    while stack:
        item = stack.pop()
        if isinstance(item, Mapping):
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
        elif item is not None:
            yield item


class Corruptor:
    """Changes cells of a case, each to another value of the same type; given fields stay.

    Args:
        case: the chain and its logs.
        random: where values are drawn from.
    """

    def __init__(self, case: Case, random: Random) -> None:
        """Look at the logs; nothing is changed yet."""
        self.case = case
        self.random = random
        self.cells = [cell for cell in self._all_cells() if cell[2] not in case.given]
        self._known = list(constants(case.tree))
        self._pools: dict[tuple[str, str | None, type], list[Any]] = {}

    def _all_cells(self) -> Iterator[Cell]:
        for log, events in self.case.logs.items():
            for position, event in enumerate(events):
                if isinstance(event, dict):
                    for name in event:
                        yield log, position, name
                else:
                    yield log, position, None

    def corrupt(self, cells: Iterable[Cell]) -> tuple[Logs, Changed]:
        """Copies of the logs with these cells changed, and what was changed."""
        logs = {name: list(events) for name, events in self.case.logs.items()}
        changed: Changed = {}
        for cell in cells:
            log, position, name = cell
            value = self.other_value(cell)
            if name is None:
                before, logs[log][position] = logs[log][position], value
            else:
                before = logs[log][position].get(name)
                logs[log][position] = {**logs[log][position], name: value}
            if not equal(before, value):
                changed[cell] = (before, value)
        return logs, changed

    def other_value(self, cell: Cell) -> object:
        """A value of the same type: from the log, from the chain, or any."""
        log, position, name = cell
        event = self.case.logs[log][position]
        now = event if name is None else event.get(name)
        if now is None:
            return None
        if isinstance(now, bool):
            return not now
        pool = self._pool(log, name, type(now))
        several = self.random.choices(pool, k=3) if pool else []
        return self.random.choice([v for v in (*several, *_any_of(now, self.random)) if v != now])

    def _pool(self, log: str, name: str | None, kind: type) -> list[Any]:
        """The values of this type in the column, and the chain's own."""
        found = self._pools.get((log, name, kind))
        if found is None:
            events = self.case.logs[log]
            column = [e.get(name) if isinstance(e, dict) else e for e in events]
            found = [v for v in (*column, *self._known) if type(v) is kind]
            self._pools[log, name, kind] = found
        return found


def _any_of(now: object, random: Random) -> list[object]:
    """Values that differ from each other, so that one of them is new."""
    if isinstance(now, int):
        return [random.randint(-3, 4), random.choice((-1000, 7, 10**6))]
    if isinstance(now, float):
        return [random.choice((-0.0, 0.25, -1.0, 3.5)), random.uniform(-3, 3)]
    if isinstance(now, str):
        return random.sample("abcd", 2)
    return random.sample((["a"], ["b"], ["a", "c"], ["d"], []), 2)
