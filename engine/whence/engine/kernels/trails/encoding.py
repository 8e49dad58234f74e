"""From trails to compact associations: neighbours that go on in step become one item."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from whence.engine.kernels.columns.column import Bools, Ints
from whence.engine.kernels.columns.lazy_ints import Numbers, made, rows_from, zeros
from whence.engine.kernels.columns.masks import both, either
from whence.engine.kernels.trails.composing import Chosen
from whence.engine.kernels.trails.encoding_single import Single, compared, runs_of, single
from whence.engine.kernels.trails.entries import ASKED, Entries, Names, flat_ranges, join_entries
from whence.engine.kernels.trails.runs import Runs
from whence.engine.kernels.trails.trail import Line, Nothing, Spans, Trail
from whence.engine.lineage.association import Relation
from whence.engine.lineage.block import Block

__all__ = ["blocks_of", "encode"]

_Part = tuple[Trail, Bools | None]
_Said = Trail | Entries | Single


class Widths(NamedTuple):
    """By what positions are multiplied: in the stream itself, and in the others, by number."""

    own: int
    others: dict[int, int]


def encode(
    why: Trail,
    sup: Trail,
    positions: Numbers,
    names: Names,
    widths: Widths,
    chosen: Ints | None = None,
) -> list[Block]:
    """What some rows lead to, as blocks.

    Args:
        why: what explains each row.
        sup: what supports each row.
        positions: the rows' positions in their stream.
        names: the numbers of streams and field sets.
        widths: how positions go on, inside a Slice.
        chosen: only these rows; all, unless given.
    """
    rows = rows_from(0, len(positions)) if chosen is None else chosen
    blocks: list[Block] = []
    for relation, parts in _split(why, sup, rows, positions):
        blocks += _Relation(relation, names, widths).of(parts, rows, positions)
    return blocks


def blocks_of(
    entries: Entries, positions: Ints, names: Names, widths: Widths, relation: Relation
) -> Iterator[Block]:
    """Entries of rows at some positions, as blocks: one or a few for each target and field set."""
    return _Relation(relation, names, widths).entries(entries, positions)


def _split(
    why: Trail, sup: Trail, rows: Ints, positions: Numbers
) -> Iterator[tuple[Relation, Sequence[_Said]]]:
    """What explains and supports, what only explains, and what only supports.

    Trails that both are put together from are told apart by the rows that they are chosen for; the
    rest is compared.
    """
    count = len(why)
    of_why, of_sup = _parts(why), _parts(sup)
    if why is sup:
        yield "explains", [_alone(part, count) for part in of_why.values()]
        return
    for mark in of_why.keys() & of_sup.keys():
        (trail, here), (_, there) = of_why[mark], of_sup[mark]
        yield "explains", [_alone((trail, both(here, there)), count)]
        if there is not None:
            yield "trigger", [_alone((trail, both(here, ~there)), count)]
        if here is not None:
            yield "supports", [_alone((trail, both(there, ~here)), count)]
    more = [_alone(part, count) for mark, part in of_why.items() if mark not in of_sup]
    enough = [_alone(part, count) for mark, part in of_sup.items() if mark not in of_why]
    if not more or not enough:
        yield "trigger", more
        yield "supports", enough
        return
    pair = _same_kind(more, enough)
    if pair is not None:
        same, one, other = compared(*pair, rows, made(positions))
        yield "explains", [same]
        yield "trigger", [one]
        yield "supports", [other]
        return
    left = join_entries([part.entries(rows) for part in more]).sorted()
    right = join_entries([part.entries(rows) for part in enough]).sorted()
    in_right, in_left = _common(left, right)
    yield "explains", [left.where(in_right)]
    yield "trigger", [left.where(~in_right)]
    yield "supports", [right.where(~in_left)]


def _same_kind(more: Sequence[Trail], enough: Sequence[Trail]) -> tuple[Spans, Spans] | None:
    """Two that can be compared row by row: the pointers of a machine, to one stream."""
    left, right = more[0], enough[0]
    if len(more) > 1 or len(enough) > 1:
        return None
    if not isinstance(left, Spans) or not isinstance(right, Spans):
        return None
    same = (left.target, left.fields) == (right.target, right.fields)
    return (left, right) if same else None


def _parts(trail: Trail, mask: Bools | None = None) -> dict[int, _Part]:
    """The trails that a trail is put together from, each with the rows that it is chosen for."""
    if isinstance(trail, Nothing):
        return {}
    if not isinstance(trail, Chosen):
        return {id(trail): (trail, mask)}
    found: dict[int, _Part] = {}
    for chosen, child in trail.parts:
        for mark, (part, rows) in _parts(child, both(mask, chosen)).items():
            found[mark] = (part, either(found.get(mark, (part, rows))[1], rows))
    return found


def _alone(part: _Part, count: int) -> Trail:
    trail, mask = part
    return trail if mask is None else Chosen(count, [(mask, trail)])


def _common(left: Entries, right: Entries) -> tuple[Bools, Bools]:
    """Which entries of two sorted lists are in the other one too."""
    both = join_entries([left, right])
    side = np.repeat([False, True], [len(left.row), len(right.row)])
    order = np.lexsort((side, both.hi, both.lo, both.fields, both.target, both.row))
    found = np.zeros(len(order), np.bool_)
    if len(order) > 1:
        same = np.ones(len(order) - 1, np.bool_)
        for array in both:
            ordered = array[order]
            same &= ordered[1:] == ordered[:-1]
        twin = np.flatnonzero(same)
        found[order[twin]] = True
        found[order[twin + 1]] = True
    return found[: len(left.row)], found[len(left.row) :]


class _Relation(NamedTuple):
    """Makes blocks of one relation."""

    relation: Relation
    names: Names
    widths: Widths

    def block(self, target: int, code: int, step: int, sa: int, sb: int, *item: Ints) -> Block:
        """Items of outputs that go on in some steps, to one stream."""
        known = None if code == ASKED else self.names.fields[code]
        fields = None if known is None else tuple(sorted(known))
        to = self.names.targets[target]
        return Block(self.relation, "each", to, fields, code == ASKED, step, sa, sb, *item)

    def of(self, parts: Sequence[_Said], rows: Ints, positions: Numbers) -> list[Block]:
        """What some rows of all the parts lead to."""
        blocks: list[Block] = []
        rest: list[_Said] = []
        for part in parts:
            found: list[Block] | None = None
            if isinstance(part, Line):
                found = self._line(part, rows, positions)
            elif isinstance(part, Runs):
                found = self._runs(part, rows, positions)
            if found is None:
                rest.append(part)
            else:
                blocks += found
        if len(rest) == 1:
            (last,) = rest
            alone = single(last, rows, made(positions)) if isinstance(last, Trail) else last
            if isinstance(alone, Single):
                return [*blocks, *self._single(alone)]
        entries = join_entries(
            part.entries(rows) if isinstance(part, Trail) else part
            for part in rest
            if not isinstance(part, Single)
        )
        return [*blocks, *self.entries(entries, positions[rows])] if len(entries.row) else blocks

    def entries(self, entries: Entries, positions: Ints) -> Iterator[Block]:
        """Entries of rows at some positions: one or a few for each target and field set."""
        for part in entries.by_kind():
            row = part.row
            if not bool((row[1:] > row[:-1]).all()):
                # A row that leads to neighbours one by one, as inside a wide window, has a range.
                part = part.where(np.lexsort((part.lo, row))).joined()
            target, code = int(part.target[0]), int(part.fields[0])
            for some in _by_rank(part):
                yield from self._single(Single(target, code, positions[some.row], some.lo, some.hi))

    def _single(self, alone: Single) -> Iterator[Block]:
        """Outputs that lead to one interval each, those that go on in step as one item."""
        target, code, here, lo, hi = alone
        if not len(here):
            return
        own, unit = self.widths.own, self.widths.others.get(target, 1)
        step = 1 if int(np.bitwise_or.reduce(here)) & (own - 1) else own
        for sa, sb, item in runs_of(here, lo, hi, step, unit):
            yield self.block(target, code, step, sa, sb, *item)

    def _line(self, line: Line, rows: Ints, positions: Numbers) -> list[Block] | None:
        """A line over neighbouring outputs is one item."""
        count = len(rows)
        if not count or line.b < line.a or int(rows[-1]) - int(rows[0]) != count - 1:
            return None
        first = int(rows[0])
        start, own = int(positions[first]), self.widths.own
        step = own if count > 1 and int(positions[first + 1]) - start == own else 1
        if int(positions[first + count - 1]) - start != (count - 1) * step:
            return None
        # Positions rise by 1 at least, so that with steps of 1 the ends alone tell.
        if step != 1 and not bool((np.diff(made(positions[first : first + count])) == step).all()):
            return None
        lo, hi = line.a + first * line.sa, line.b + first * line.sb
        if hi < lo or hi + (count - 1) * line.sb < lo + (count - 1) * line.sa:
            return None
        item = (np.array([number], np.int64) for number in (start, count - 1, lo, hi - lo))
        return [self.block(line.target, line.fields, step, line.sa, line.sb, *item)]

    def _runs(self, runs: Runs, rows: Ints, positions: Numbers) -> list[Block] | None:
        """Rows in runs over neighbouring outputs: an item for every run, one between two runs."""
        count = len(rows)
        if not count or self.widths.own != 1 or int(rows[-1]) - int(rows[0]) != count - 1:
            return None
        first, last = int(rows[0]), int(rows[-1])
        start = int(positions[first])
        if int(positions[last]) - start != count - 1:
            return None
        stop = int(np.searchsorted(runs.lo, last, side="right"))
        inside = slice(int(np.searchsorted(runs.hi, first)), stop)
        lo = np.maximum(runs.lo[inside], first)
        hi = np.minimum(runs.hi[inside], last)
        blocks: list[Block] = []
        places = runs.places[inside]
        child = runs.child
        straight = child.straight(places) if len(lo) and bool((places >= 0).all()) else None
        if straight is not None:
            for which, line, along in straight:
                every = len(which) == len(lo)
                at, until = (lo, hi) if every else (lo[which], hi[which])
                width = zeros(len(at)) if line.a == line.b else np.full(len(at), line.b - line.a)
                item = (at + (start - first), until - at, line.a + along * line.sa, width)
                blocks.append(self.block(line.target, line.fields, 1, 0, 0, *item))
        elif len(lo):
            below = child.take(places).entries(rows_from(0, len(places)))
            if not bool((below.row[1:] > below.row[:-1]).all()):
                below = below.sorted()
            for some in below.by_kind():
                at, more = lo[some.row] - first + start, (hi - lo)[some.row]
                target, code = int(some.target[0]), int(some.fields[0])
                item = (at, more, some.lo, some.hi - some.lo)
                blocks.append(self.block(target, code, 1, 0, 0, *item))
        usual = runs.usual
        if isinstance(usual, Nothing):
            return blocks
        # What lies between the runs.
        ends, begins = np.empty((2, len(lo) + 1), np.int64)
        ends[:-1], ends[-1] = lo - 1, last
        begins[1:], begins[0] = hi + 1, first
        gap = begins <= ends
        begins, ends = begins[gap], ends[gap]
        if not len(begins):
            return blocks
        if isinstance(usual, Line) and usual.sa == usual.sb and usual.b >= usual.a:
            by, width = usual.sa, np.full(len(begins), usual.b - usual.a)
            item = (begins - first + start, ends - begins, usual.a + begins * by, width)
            return [*blocks, self.block(usual.target, usual.fields, 1, by, by, *item)]
        others, _ = flat_ranges(begins, ends - begins + 1)
        parts = [_alone(part, len(usual)) for part in _parts(usual).values()]
        return blocks + self.of(parts, others, positions)


def _by_rank(entries: Entries) -> Iterator[Entries]:
    """The first entry of every row, then the second, and so on: each goes on in its own step."""
    row = entries.row
    again = np.zeros(len(row), np.bool_)
    again[1:] = row[1:] == row[:-1]
    if not again.any():
        yield entries
        return
    begins = np.flatnonzero(~again)
    rank = np.arange(len(row)) - np.repeat(begins, np.diff(np.append(begins, len(row))))
    most = 4
    for number in range(min(int(rank.max()), most) + 1):
        yield entries.where(rank == number if number < most else rank >= most)
