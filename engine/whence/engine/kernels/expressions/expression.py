"""Expressions on whole columns: values, and what explains and supports them, without a call a row.

`compile_columns` turns an expression into a tree of nodes. Kinds are looked at when a batch comes;
what has no function on columns runs as the interpreter does, row by row, for that node alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, NoReturn

import numpy as np

from whence.engine.kernels.batch import Front
from whence.engine.kernels.columns.column import Bools, Column, from_values
from whence.engine.kernels.expressions.functions.base import BadRow
from whence.engine.kernels.expressions.nodes import Leaf, Node, Seen, node_of
from whence.engine.kernels.expressions.reading import Reading
from whence.engine.kernels.kernel import Run
from whence.engine.kernels.trails.composing import Chosen, later, union
from whence.engine.kernels.trails.reasons import Reasons
from whence.engine.kernels.trails.trail import Nothing, Trail
from whence.engine.language.compiled import compile_expression
from whence.engine.language.events import Event
from whence.engine.language.expression import Expression
from whence.engine.language.traits import Traits
from whence.engine.values import ValueFault

__all__ = ["ColumnExpression", "RowFault", "Traced", "compile_columns"]


class RowFault(Exception):
    """A value did not fit.

    Attributes:
        row: the first row that the interpreter fails on.
        fault: what it says.
    """

    def __init__(self, row: int, fault: ValueFault) -> None:
        super().__init__(row, fault)
        self.row = row
        self.fault = fault


class Traced(NamedTuple):
    """The values of an expression with what explains and what supports them.

    Attributes:
        values: one for each front.
        why: where each leads as explanation; every field is known.
        sup: where each leads as support, the existence of what was picked included, that of the
            rest of the front not; the same object as ``why`` where both agree.
    """

    values: Column
    why: Trail
    sup: Trail

    @property
    def reasons(self) -> Reasons:
        """The trails as one value."""
        return Reasons(self.why, self.sup)


@dataclass(slots=True)
class _Picked:
    """What the rules pick in a batch, worked out when somebody follows it for the first time."""

    node: Node
    seen: Seen
    count: int
    run: Run

    def trail(self, pipes: Sequence[Trail], *, support: bool) -> Trail:
        """The trail of what was picked, given those of the pipes."""
        masks: dict[Leaf, Bools | None] = {}
        self.node.lead(self.seen, None, masks, support=support)
        return _chosen(masks, pipes, self.run, self.count)


def _chosen(masks: dict[Leaf, Bools | None], pipes: Sequence[Trail], run: Run, count: int) -> Trail:
    """The trail of some leaves, those with the same rows of the same pipe in one part."""
    groups: dict[tuple[int, int], tuple[Bools | None, set[str | None]]] = {}
    for (pipe, name), mask in masks.items():
        group = groups.setdefault((pipe, 0 if mask is None else id(mask)), (mask, set()))
        group[1].add(name)
    parts: list[tuple[Bools | None, Trail]] = []
    for (pipe, _), (mask, names) in groups.items():
        trail = pipes[pipe].ask(_field_set(names, run))
        if mask is None or len(mask) == count:
            parts.append((mask, trail))
        elif mask.all():
            parts.append((None, trail))
    if all(mask is None for mask, _ in parts):
        return _united([trail for _, trail in parts], count)
    return Chosen(count, parts)


def _field_set(names: set[str | None], run: Run) -> int:
    """The number of some fields; ``None`` among them is the whole event."""
    whole = None in names
    return run.names.field_set(None if whole else frozenset(n for n in names if n is not None))


def _united(trails: Sequence[Trail], count: int) -> Trail:
    found = trails[0] if len(trails) == 1 else union(*trails)
    return Nothing(count) if found is None else found


class ColumnExpression:
    """An expression ready to run on batches.

    Args:
        expression: what to compute.
        pipes: what is known of the pipes.
        run: what all kernels share.

    Attributes:
        plain: all arguments always explain, so that trails do not depend on the values.
        once: values that it is given may be overwritten.
    """

    def __init__(self, expression: Expression, pipes: Sequence[Traits], run: Run) -> None:
        """Compile for the interpreter as well, which says what is wrong where something is."""
        self._compiled = compile_expression(expression, pipes)
        self._node = node_of(expression, pipes)
        self._run = run
        self.plain = self._node.plain
        self.once = self._node.once and (self.plain or not run.tracked)
        names: dict[int, set[str | None]] = {}
        for pipe, name in self._node.reads:
            names.setdefault(pipe, set()).add(name)
        self._groups = [(pipe, _field_set(read, run)) for pipe, read in sorted(names.items())]

    def evaluate(self, front: Front) -> Column:
        """The value for every front.

        Raises:
            RowFault: the first front that the interpreter fails on.
        """
        count = len(front)
        if not count:
            return from_values([], "any", self._run.texts)
        columns = [batch.values for batch in front.pipes]
        try:
            found = self._node.value(Reading(columns, count, self._run.texts))
            return _whole(found, count).held()
        except BadRow as bad:
            self._refuse(front, bad.row)

    def trace(self, front: Front) -> Traced:
        """The values with their trails.

        Raises:
            RowFault: as `evaluate`.
        """
        pipes = front.pipes
        columns = [batch.values for batch in pipes]
        try:
            found = self.follow(columns, [batch.reasons for batch in pipes], len(front))
            return found._replace(values=found.values.held())
        except BadRow as bad:
            self._refuse(front, bad.row)

    def follow(self, columns: Sequence[Column], pipes: Sequence[Reasons], count: int) -> Traced:
        """The same for the values and reasons of the pipes; the values may be spare.

        Raises:
            BadRow: some part of the expression refuses this row.
        """
        texts = self._run.texts
        if not count:
            values = from_values([], "any", texts)
            return self._plainly(values, pipes, count)
        reading = Reading(columns, count, texts)
        if not self._run.tracked:
            nothing = Nothing(count)
            return Traced(_whole(self._node.value(reading), count), nothing, nothing)
        if self.plain:
            values = _whole(self._node.value(reading), count)
            return self._plainly(values, pipes, count)
        seen = self._node.see(reading)
        return self._picked(seen, pipes, count)

    def fault(self, front: Front, row: int) -> ValueFault:
        """What the interpreter says of a front that it fails on."""
        try:
            self._compiled.value(_events(front, row))
        except ValueFault as fault:
            return fault
        msg = f"the interpreter takes front {row}, which the columns refused"
        raise AssertionError(msg)

    def _refuse(self, front: Front, row: int) -> NoReturn:
        """Another part of the expression may fail on an earlier row: look there first."""
        columns = [batch.values for batch in front.pipes]
        reading = Reading(columns, len(front), self._run.texts)
        while row:
            try:
                self._node.value(reading.head(row))
                break
            except BadRow as bad:
                row = bad.row
        raise RowFault(row, self.fault(front, row))

    def _same(self, pipes: Sequence[Reasons]) -> bool:
        """Whether supports are what explains, so that one trail stands for both."""
        return self._node.same and all([pipes[pipe].agree for pipe, _ in self._groups])

    def _plainly(self, values: Column, pipes: Sequence[Reasons], count: int) -> Traced:
        why = _united([pipes[pipe].why.ask(fields) for pipe, fields in self._groups], count)
        if self._same(pipes):
            return Traced(values, why, why)
        sup = _united([pipes[pipe].sup.ask(fields) for pipe, fields in self._groups], count)
        return Traced(values, why, sup)

    def _picked(self, seen: Seen, pipes: Sequence[Reasons], count: int) -> Traced:
        # Only the trails are held: the values that were read may be gone when somebody asks.
        values = _whole(seen.values, count)
        picked = _Picked(self._node, seen, count, self._run)
        whys, sups = [pipe.why for pipe in pipes], [pipe.sup for pipe in pipes]
        why = later(count, lambda: picked.trail(whys, support=False))
        if self._same(pipes):
            return Traced(values, why, why)
        return Traced(values, why, later(count, lambda: picked.trail(sups, support=True)))


def _whole(column: Column, count: int) -> Column:
    """A constant is spread over all rows."""
    return column if len(column) == count else column.take(np.zeros(count, np.int64))


def _events(front: Front, row: int) -> list[Event]:
    return [Event(batch.values.item(row)) for batch in front.pipes]


def compile_columns(expression: Expression, pipes: Sequence[Traits], run: Run) -> ColumnExpression:
    """Make an expression ready to run on batches of some pipes."""
    return ColumnExpression(expression, pipes, run)
