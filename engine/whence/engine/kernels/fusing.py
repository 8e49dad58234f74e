"""Neighbouring logic and X at once: what they say of an event is a table over a few conditions.

A formula like ``p -> X(a and X a)`` is several processors, but all it looks at are the conditions
``p`` now, ``a`` one event later and ``a`` two events later. What it says for each combination of
those, and which of them explain and support it, is asked once of the processors' own kernels. From
then on a batch takes a look into that table, whatever the number of processors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from whence.engine.kernels.batch import Batch, join_batches
from whence.engine.kernels.columns.column import Bools, Column, Ints, records
from whence.engine.kernels.expressions.functions.base import Compute
from whence.engine.kernels.expressions.functions.logic import FUNCTIONS
from whence.engine.kernels.groups import Group, Leaf
from whence.engine.kernels.kernel import Run, State
from whence.engine.kernels.trails.entries import ASKED, WHOLE, Entries, flat_ranges, join_entries
from whence.engine.kernels.trails.reasons import Reasons, joined_reasons
from whence.engine.kernels.trails.trail import Line, Straight, Trail

__all__ = ["Fused"]


class Alone(Protocol):
    """The kernels of a group, each on its own."""

    def feed(self, inputs: Sequence[Batch]) -> Batch:
        """Carry a batch of every input through; return what leaves the last of them."""
        ...


A = TypeVar("A", bound=Alone)


@dataclass(frozen=True, slots=True)
class _Table:
    """For each combination of conditions, which of them explain and support what is said.

    Attributes:
        why: for each condition, whether it explains.
        sup: for each condition, whether it supports; the very same where that is equal.
    """

    why: tuple[Bools, ...]
    sup: tuple[Bools, ...]


class Fused(Generic[A]):
    """A group at work.

    Args:
        group: what it stands for.
        run: what all kernels share.
        start: the group's kernels, each on its own, from the beginning.
    """

    def __init__(self, group: Group, run: Run, start: Callable[[], A]) -> None:
        self.group = group
        self.steps, self.sources = group.steps, group.inputs
        self.run = run
        self.start = start
        self.held: list[Batch] = []
        self.seen = 0
        self._table: _Table | None = None
        self._computed: list[tuple[Compute | None, tuple[int, ...]]] = [
            (None, ())
            if isinstance(condition, Leaf)
            else (FUNCTIONS[condition.function.name].start(condition.function), condition.parts)
            for condition in group.conditions
        ]
        fields = [leaf.field for leaf in group.leaves]
        self._asked = [
            WHOLE if field is None else run.names.field_set(frozenset({field})) for field in fields
        ]

    def feed(self, arrived: Sequence[Batch]) -> Batch | None:
        """The outputs for what arrived; ``None`` if these events need every processor."""
        moment = arrived[0].moment
        more = len(moment)
        if not more and not any(len(batch) for batch in arrived):
            return self.run.empty(slotted=False)
        for batch in arrived:
            if batch.moment is not moment or batch.slot is not None or batch.exists is not None:
                return None
        group = self.group
        fresh = self._fresh(arrived)
        if fresh is None:
            return None
        if self._table is None and self.run.tracked:
            self._table = _tabulated(group, self.run, self._asked, self.start())
        table = self._table
        held = self.held
        before = len(held[0]) if held else 0
        count = max(before + more - group.delay, 0)
        self.seen += more
        conditions = self._conditions(fresh, count)
        reasons = Reasons.nothing(count)
        if table is not None:
            pipes = [batch.reasons for batch in arrived]
            if held:
                pairs = zip(held, pipes, strict=True)
                pipes = [joined_reasons([old.reasons, new]) for old, new in pairs]
            reasons = Reasons.of(self._looked(conditions, table.why, [pipe.why for pipe in pipes]))
            if table.sup is not table.why or not all([pipe.agree for pipe in pipes]):
                sup = self._looked(conditions, table.sup, [pipe.sup for pipe in pipes])
                reasons = reasons._replace(sup=sup)
        self._hold(arrived, before + more - count)
        values = self._value(conditions)
        return Batch(values, moment[more - count :], None, *reasons)

    def _fresh(self, arrived: Sequence[Batch]) -> dict[tuple[int, str | None], Bools] | None:
        """What is read of the events that arrived; ``None`` if some of it is no condition."""
        found: dict[tuple[int, str | None], Bools] = {}
        for leaf in self.group.leaves:
            key = leaf.input, leaf.field
            if key not in found:
                holds = _condition(arrived[leaf.input].values, leaf.field)
                if holds is None:
                    return None
                found[key] = holds
        return found

    def _conditions(self, fresh: Mapping[tuple[int, str | None], Bools], count: int) -> list[Bools]:
        """Each of the conditions for all outputs, the events that were held included."""
        if self.held:
            whole: dict[tuple[int, str | None], Bools] = {}
            for (number, field), holds in fresh.items():
                tail = _condition(self.held[number].values, field)
                assert tail is not None
                whole[number, field] = _after(tail, holds)
            fresh = whole
        leaves = self.group.leaves
        return [fresh[number, field][later : later + count] for number, field, later in leaves]

    def _value(self, leaves: Sequence[Bools]) -> Column:
        given = iter(leaves)
        known: list[Column] = []
        for compute, parts in self._computed:
            found: Column | None = None
            if compute is None:
                found = Column("boolean", next(given), None, self.run.texts)
            else:
                found = compute([known[number] for number in parts])
            assert found is not None
            known.append(found)
        return known[-1]

    def _looked(
        self, conditions: Sequence[Bools], chosen: tuple[Bools, ...], trails: Sequence[Trail]
    ) -> Trail:
        leaves = zip(self.group.leaves, self._asked, strict=True)
        return _Looked(
            conditions,
            chosen,
            [(trails[leaf.input].ask(fields), leaf.later) for leaf, fields in leaves],
        )

    def _hold(self, arrived: Sequence[Batch], count: int) -> None:
        """Keep the last events, which later ones are looked at together with."""
        more = len(arrived[0])
        if count <= more:
            tails = (batch.slice(more - count, more).copied() for batch in arrived)
            self.held = list(tails) if count else []
            return
        before = len(self.held[0])
        held = [batch.slice(before + more - count, before) for batch in self.held]
        self.held = [join_batches(pair) for pair in zip(held, arrived, strict=True)]

    def plain(self) -> tuple[A, int]:
        """The group's kernels as they would stand by now, and how many events they did not see."""
        kernels = self.start()
        if self.held:
            moment = self.held[0].moment
            kernels.feed([replace(batch, moment=moment) for batch in self.held])
        return kernels, self.seen - (len(self.held[0]) if self.held else 0)

    def save(self) -> State:
        return {"root": self.steps[-1], "seen": self.seen, "held": list(self.held)}

    def load(self, state: Mapping[str, Any]) -> None:
        self.seen, self.held = state["seen"], list(state["held"])


def _condition(column: Column, field: str | None) -> Bools | None:
    """What a condition holds, if it can be read as it is; missing counts as false."""
    if field is not None:
        if column.fields is None or column.valid is not None or field not in column.fields:
            return None
        column = column.fields[field]
    if column.kind != "boolean":
        return None
    found: Bools = column.data if column.valid is None else column.data & column.valid
    return found


def _after(tail: Bools, holds: Bools) -> Bools:
    """Some conditions after a few others."""
    # Where the others begin is a round address: copies to odd ones take ten times as long on some
    # processors.
    space = -len(tail) % 64
    found = np.empty(space + len(tail) + len(holds), np.bool_)[space:]
    found[: len(tail)] = tail
    found[len(tail) :] = holds
    return found


@dataclass(slots=True, eq=False)
class _Looked(Trail):
    """Row r leads where those conditions lead that the table names for its combination."""

    conditions: Sequence[Bools]
    chosen: tuple[Bools, ...]
    leaves: Sequence[tuple[Trail, int]]

    def __len__(self) -> int:
        return len(self.conditions[0])

    def codes(self, rows: Ints) -> Ints:
        """Which of the conditions hold, as the bits of a number."""
        found = np.zeros(len(rows), np.int64)
        for bit, condition in enumerate(self.conditions):
            found += condition[rows] * (1 << bit)
        return found

    def entries(self, rows: Ints) -> Entries:
        codes = self.codes(rows)
        found = []
        for chosen, (trail, later) in zip(self.chosen, self.leaves, strict=True):
            asked = np.flatnonzero(chosen[codes])
            if len(asked):
                below = trail.entries(rows[asked] + later)
                found.append(below.rows(asked[below.row]))
        return join_entries(found)

    def straight(self, rows: Ints) -> list[Straight] | None:
        lines: dict[tuple[int, int, int], None] = {}
        for trail, later in self.leaves:
            if not isinstance(trail, Line) or trail.a != trail.b or trail.sa != trail.sb:
                return None
            lines[trail.target, trail.fields, trail.a + later * trail.sa] = None
        if len(lines) < len(self.leaves):
            return None  # two conditions that are the same: entries would tell
        codes = self.codes(rows)
        found = []
        for chosen, (trail, later) in zip(self.chosen, self.leaves, strict=True):
            (asked,) = chosen[codes].nonzero()
            if len(asked):
                assert isinstance(trail, Line)
                found.append(Straight(asked, trail, rows[asked] + later))
        return found

    def ask(self, fields: int) -> Trail:
        return self


def _tabulated(group: Group, run: Run, asked: Sequence[int], kernels: Alone) -> _Table:
    """Ask the kernels for every combination: each is a stretch of events of its own."""
    stretch, count = group.delay + 1, 1 << len(group.leaves)
    total = stretch * count
    combinations = np.arange(count)
    moment = np.arange(total)
    columns: list[dict[str | None, Bools]] = [{} for _ in group.inputs]
    for bit, leaf in enumerate(group.leaves):
        holds = columns[leaf.input].setdefault(leaf.field, np.zeros(total, np.bool_))
        holds[leaf.later :: stretch] = combinations >> bit & 1
    inputs = []
    for number, fields in enumerate(columns):
        trail = Line(number, ASKED, total, 0, 0)
        made = {name: Column("boolean", data, None, run.texts) for name, data in fields.items()}
        values = made.get(None) or records(
            {name: column for name, column in made.items() if name}, total, run.texts
        )
        inputs.append(Batch(values, moment, None, trail, trail, None))
    batch = kernels.feed(inputs)
    rows = combinations * stretch
    why = _chosen(batch.why.entries(rows), group, asked, count)
    sup = why if batch.sup is batch.why else _chosen(batch.sup.entries(rows), group, asked, count)
    same = all((a == b).all() for a, b in zip(why, sup, strict=True))
    return _Table(why, why if same else sup)


def _chosen(entries: Entries, group: Group, asked: Sequence[int], count: int) -> tuple[Bools, ...]:
    """For each condition, the combinations whose entries lead to it."""
    stretch = group.delay + 1
    place, which = flat_ranges(entries.lo, entries.hi - entries.lo + 1)
    row, target, fields = entries.row[which], entries.target[which], entries.fields[which]
    found = []
    for leaf, field_set in zip(group.leaves, asked, strict=True):
        chosen = np.zeros(count, np.bool_)
        here = (target == leaf.input) & (fields == field_set)
        chosen[row[here & (place == row * stretch + leaf.later)]] = True
        found.append(chosen)
    return tuple(found)
