"""The nodes of an expression on columns: how each is computed, and which leaves explain it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from whence.engine.functions.arithmetic import PRODUCT, is_zero
from whence.engine.functions.choice import IF
from whence.engine.kernels.columns.column import Bools, Column, Ints, concat, guessed
from whence.engine.kernels.columns.masks import both, either
from whence.engine.kernels.expressions.functions import COLUMN_FUNCTIONS
from whence.engine.kernels.expressions.functions.arithmetic import bounds_of
from whence.engine.kernels.expressions.functions.base import (
    NUMBERS,
    BadRow,
    Picks,
    by_rows,
    conditions,
    explain_by_rows,
    spread,
    typed,
)
from whence.engine.kernels.expressions.reading import Reading
from whence.engine.language.compiled import guarded
from whence.engine.language.expression import Call, Constant, Expression, Field, Input
from whence.engine.language.expression_traits import may_vanish
from whence.engine.language.traits import Traits

__all__ = ["Leaf", "Masks", "Node", "Seen", "node_of"]

Leaf = tuple[int, str | None]
"""A field of a pipe's event; ``None`` is the whole event."""
Masks = dict[Leaf, Bools | None]
"""The rows in which each leaf is picked; ``None``: in all."""


@dataclass(slots=True)
class Seen:
    """What a node computed; with its parts, where the rules need to look at them again.

    Attributes:
        column: the values; of length 1 if they are the same in all rows; ``None`` once no rule
            will look at them any more.
        parts: what the node's arguments computed; ``None`` for a branch that no row took.
        rows: for a choice that went both ways, the rows of each branch.
        picks: what the rule picked, once somebody asked.
    """

    column: Column | None
    parts: tuple[Seen | None, ...] = ()
    rows: tuple[Ints, Ints] | None = None
    picks: Picks | None = None

    @property
    def values(self) -> Column:
        """The column, while it is there."""
        assert self.column is not None
        return self.column


class Node:
    """A part of an expression.

    Attributes:
        reads: the leaves below it.
        plain: whether all of them always explain it.
        same: whether what supports it is always what explains it.
        looks_back: whether its rule looks at its values again.
        once: whether what it reads is read by one function, and by nothing else.
    """

    reads: frozenset[Leaf] = frozenset()
    plain: bool = True
    same: bool = True
    looks_back: bool = False
    once: bool = False

    def value(self, reading: Reading) -> Column:
        """Compute the values."""
        raise NotImplementedError

    def see(self, reading: Reading) -> Seen:
        """Compute the values and keep the parts that the rules will look at."""
        return Seen(self.value(reading))

    def lead(self, seen: Seen, mask: Bools | None, masks: Masks, *, support: bool) -> None:
        """Add the leaves that explain (or support) this node in some rows."""
        for leaf in self.reads:
            _add(masks, leaf, mask)


def _add(masks: Masks, leaf: Leaf, mask: Bools | None) -> None:
    masks[leaf] = either(masks.get(leaf, mask), mask)


class _Constant(Node):
    def __init__(self, held: object) -> None:
        self.held = held
        self.column: Column | None = None

    def value(self, reading: Reading) -> Column:
        if self.column is None or self.column.texts is not reading.texts:
            column = guessed([self.held], reading.texts)
            bounds = bounds_of(column) if column.kind in NUMBERS else None
            self.column = replace(column, bounds=bounds)
        return self.column


class _Read(Node):
    def __init__(self, pipe: int, name: str | None) -> None:
        self.pipe = pipe
        self.name = name
        self.reads = frozenset({(pipe, name)})

    def value(self, reading: Reading) -> Column:
        if self.name is None:
            return reading.event(self.pipe)
        return reading.field(self.pipe, self.name)


class _Call(Node):
    def __init__(self, call: Call, parts: Sequence[Node], pipes: Sequence[Traits]) -> None:
        self.function = call.function
        self.rule = call.function.rule
        self.parts = tuple(parts)
        self.reads = frozenset[Leaf]().union(*(part.reads for part in parts))
        always = call.function.explains_all or _all_one(call, parts)
        self.plain = always and all(part.plain for part in parts)
        self.looks_back = not (call.function.explains_all or self.plain)
        reading = [part for part in parts if part.reads]
        # Of more than two arguments the first two are put together before the next is looked at.
        self.once = len(reading) == 1 and reading[0].once
        if len(parts) < 3 and all(isinstance(part, _Read) for part in reading):
            self.once = True
        self.vanishing = tuple(may_vanish(x, pipes) for x in call.arguments)
        self.same = all(part.same for part in parts) and self._own_same(len(parts))
        known = None if call.function.path else COLUMN_FUNCTIONS.get(call.function.name)
        self.on_columns = None if known is None else known.start(call.function)
        self.explain = None if known is None else known.explain
        self.on_rows = guarded(call.function)

    def _own_same(self, count: int) -> bool:
        """Whether the rule supports a result by what explains it, whatever it picks."""
        if self.function.explains_all or self.plain:
            return True
        if self.function.path:
            return False
        everything = tuple(range(count))
        picks = [everything, *((i,) for i in everything)]
        return all(self.rule.support(pick, self.vanishing) == pick for pick in picks)

    def value(self, reading: Reading) -> Column:
        return self._computed([part.value(reading) for part in self.parts], reading)

    def see(self, reading: Reading) -> Seen:
        if self.plain:
            return Seen(self.value(reading))
        parts = tuple([part.see(reading) for part in self.parts])
        column = self._computed([part.values.held() for part in parts], reading)
        if self.function.explains_all:
            for node, part in zip(self.parts, parts, strict=True):
                if not node.looks_back:
                    part.column = None
        return Seen(column, parts)

    def _computed(self, given: Sequence[Column], reading: Reading) -> Column:
        columns = typed(given)
        result = None if self.on_columns is None else self.on_columns(columns)
        if result is None:
            count = self._count(columns, reading)
            result = by_rows(self.on_rows, columns, count, reading.texts)
        return result

    def _count(self, columns: Sequence[Column], reading: Reading) -> int:
        """A user's function of constants is called for every row all the same."""
        return reading.count if self.function.path else max(len(column) for column in columns)

    def lead(self, seen: Seen, mask: Bools | None, masks: Masks, *, support: bool) -> None:
        if self.plain:
            super().lead(seen, mask, masks, support=support)
            return
        if self.function.explains_all:
            for node, part in zip(self.parts, seen.parts, strict=True):
                assert part is not None
                node.lead(part, mask, masks, support=support)
            return
        wanted: dict[int, Bools | None] = {}
        for pick, rows in self._picks(seen):
            chosen = both(mask, rows)
            if chosen is not None and not chosen.any():
                continue
            for number in self.rule.support(pick, self.vanishing) if support else pick:
                wanted[number] = either(wanted.get(number, chosen), chosen)
        for number, chosen in wanted.items():
            part = seen.parts[number]
            assert part is not None
            self.parts[number].lead(part, _simple(chosen), masks, support=support)

    def _picks(self, seen: Seen) -> Picks:
        if seen.picks is None:
            columns = typed([part.values for part in seen.parts if part is not None])
            if self.explain is not None:
                seen.picks = self.explain(columns, seen.values)
            if seen.picks is None:
                seen.picks = explain_by_rows(self.rule.explain, columns, seen.values)
        return seen.picks


def _all_one(call: Call, parts: Sequence[Node]) -> bool:
    """Whether the same leaves explain a call whichever arguments its rule picks."""
    if call.function.path:
        return False  # a user's rule may pick none
    leaves = {
        part.reads
        for argument, part in zip(call.arguments, parts, strict=True)
        if not (call.function == PRODUCT and _is_factor(argument))
    }
    return len(leaves) == 1 and leaves != {frozenset()}


def _is_factor(argument: Expression) -> bool:
    """Whether it is a constant that no product is explained by alone, as zero is."""
    return isinstance(argument, Constant) and not is_zero(argument.value)


def _simple(mask: Bools | None) -> Bools | None:
    return None if mask is None or mask.all() else mask


class _If(Node):
    plain = False

    def __init__(self, parts: Sequence[Node]) -> None:
        self.condition, self.yes, self.no = parts
        self.reads = frozenset[Leaf]().union(*(part.reads for part in parts))
        self.same = all(part.same for part in parts)

    def value(self, reading: Reading) -> Column:
        return self.see(reading).values

    def see(self, reading: Reading) -> Seen:
        asked = self.condition.see(reading)
        holds = conditions(asked.values)
        if holds.all():
            seen = self.yes.see(reading)
            return Seen(seen.values, (asked, seen, None))
        if not holds.any():
            seen = self.no.see(reading)
            return Seen(seen.values, (asked, None, seen))
        branches: list[tuple[Ints, Seen]] = []
        worst: int | None = None
        for node, rows in ((self.yes, np.flatnonzero(holds)), (self.no, np.flatnonzero(~holds))):
            try:
                branches.append((rows, node.see(reading.some(rows))))
            except BadRow as bad:
                row = int(rows[bad.row])
                worst = row if worst is None else min(worst, row)
        if worst is not None:
            raise BadRow(worst)
        (yes_rows, yes), (no_rows, no) = branches
        column = _merged(reading.count, yes_rows, yes.values, no_rows, no.values)
        return Seen(column, (asked, yes, no), (yes_rows, no_rows))

    def lead(self, seen: Seen, mask: Bools | None, masks: Masks, *, support: bool) -> None:
        asked, *branches = seen.parts
        assert asked is not None
        self.condition.lead(asked, mask, masks, support=support)
        if seen.rows is None:
            for node, branch in zip((self.yes, self.no), branches, strict=True):
                if branch is not None:
                    node.lead(branch, mask, masks, support=support)
            return
        count = len(seen.rows[0]) + len(seen.rows[1])
        for node, branch, rows in zip((self.yes, self.no), branches, seen.rows, strict=True):
            assert branch is not None
            inner: Masks = {}
            here = None if mask is None else spread(mask, count)[rows]
            if here is not None and not here.any():
                continue
            node.lead(branch, here, inner, support=support)
            done: dict[int, Bools] = {}
            for leaf, chosen in inner.items():
                # Leaves that share their rows go on sharing them, and become one part of a trail.
                key = 0 if chosen is None else id(chosen)
                if key not in done:
                    done[key] = np.zeros(count, np.bool_)
                    done[key][rows] = True if chosen is None else chosen
                _add(masks, leaf, done[key])


def _merged(count: int, yes_rows: Ints, yes: Column, no_rows: Ints, no: Column) -> Column:
    """The values of both branches in the order of the rows."""
    yes, no = typed([yes, no])
    if yes.kind == no.kind and yes.kind != "record":
        data = np.empty(count, yes.data.dtype)
        data[yes_rows] = yes.data
        data[no_rows] = no.data
        valid: Bools | None = None
        if yes.valid is not None or no.valid is not None:
            valid = np.empty(count, np.bool_)
            valid[yes_rows] = True if yes.valid is None else yes.valid
            valid[no_rows] = True if no.valid is None else no.valid
        return Column(yes.kind, data, valid, yes.texts)
    if len(yes) != len(yes_rows):
        yes = yes.take(np.zeros(len(yes_rows), np.int64))
    if len(no) != len(no_rows):
        no = no.take(np.zeros(len(no_rows), np.int64))
    places = np.empty(count, np.int64)
    places[np.concatenate((yes_rows, no_rows))] = np.arange(count)
    return concat([yes, no]).take(places)


def node_of(expression: Expression, pipes: Sequence[Traits]) -> Node:
    """The node of an expression."""
    if isinstance(expression, Constant):
        return _Constant(expression.value)
    if isinstance(expression, Input):
        return _Read(expression.pipe, None)
    if isinstance(expression, Field):
        return _Read(expression.pipe, expression.name)
    parts = [node_of(x, pipes) for x in expression.arguments]
    if expression.function == IF:
        return _If(parts)
    return _Call(expression, parts, pipes)
