"""From trails to compact associations: neighbours that go on in step become one item."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from whence.engine.kernels.columns.column import Bools, Ints
from whence.engine.kernels.columns.lazy_ints import Numbers, made, rows_from, zeros
from whence.engine.kernels.trails.composing import Chosen
from whence.engine.kernels.trails.encoding_single import Single, compared, runs_of, single
from whence.engine.kernels.trails.entries import ASKED, Entries, Names, flat_ranges, join_entries
from whence.engine.kernels.trails.runs import Runs
from whence.engine.kernels.trails.trail import Line, Nothing, Spans, Trail
from whence.engine.lineage.association import Relation
from whence.engine.lineage.block import Block

__all__ = ["blocks_of", "encode"]

_Part = tuple[Trail, Bools | None]


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
        rest: list[Trail | Entries | Single] = []
        for part in parts:
            if isinstance(part, Line):
                line = _line(part, rows, positions, names, widths, relation)
                if line is not None:
                    blocks.append(line)
                    continue
            if isinstance(part, Runs):
                found = _of_runs(part, rows, positions, names, widths, relation)
                if found is not None:
                    blocks.extend(found)
                    continue
            rest.append(part)
        blocks.extend(_rest(rest, rows, positions, names, widths, relation))
    return blocks


def _rest(
    parts: Sequence[Trail | Entries | Single],
    rows: Ints,
    positions: Numbers,
    names: Names,
    widths: Widths,
    relation: Relation,
) -> Iterator[Block]:
    """What is no line and no runs: a single part without detours where that can be."""
    if len(parts) == 1:
        (part,) = parts
        alone = single(part, rows, made(positions)) if isinstance(part, Trail) else part
        if isinstance(alone, Single):
            yield from _items(alone, names, widths, relation)
            return
    entries = join_entries(
        part.entries(rows) if isinstance(part, Trail) else part
        for part in parts
        if not isinstance(part, Single)
    )
    if len(entries.row):
        yield from blocks_of(entries, positions[rows], names, widths, relation)


def _split(
    why: Trail, sup: Trail, rows: Ints, positions: Numbers
) -> Iterator[tuple[Relation, Sequence[Trail | Entries | Single]]]:
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
        yield "explains", [_alone((trail, _both(here, there)), count)]
        if there is not None:
            yield "trigger", [_alone((trail, _both(here, ~there)), count)]
        if here is not None:
            yield "supports", [_alone((trail, _both(there, ~here)), count)]
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
        for mark, (part, rows) in _parts(child, _both(mask, chosen)).items():
            held = found.get(mark, (part, rows))[1]
            either = None if held is None or rows is None else held | rows
            found[mark] = (part, either)
    return found


def _both(left: Bools | None, right: Bools | None) -> Bools | None:
    if left is None or right is None:
        return right if left is None else left
    return left & right


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


def _line(
    line: Line,
    rows: Ints,
    positions: Numbers,
    names: Names,
    widths: Widths,
    relation: Relation,
) -> Block | None:
    """A line over neighbouring outputs is one item."""
    count = len(rows)
    if not count or line.b < line.a or int(rows[-1]) - int(rows[0]) != count - 1:
        return None
    first = int(rows[0])
    start = int(positions[first])
    step = widths.own if count > 1 and int(positions[first + 1]) - start == widths.own else 1
    if int(positions[first + count - 1]) - start != (count - 1) * step:
        return None
    # Positions rise by 1 at least, so that with steps of 1 the ends alone tell.
    if step != 1 and not bool((np.diff(made(positions[first : first + count])) == step).all()):
        return None
    lo, hi = line.a + first * line.sa, line.b + first * line.sb
    if hi < lo or hi + (count - 1) * line.sb < lo + (count - 1) * line.sa:
        return None
    item = (start, count - 1, lo, hi - lo)
    arrays = (np.array([number], np.int64) for number in item)
    fields, copy = _fields(line.fields, names)
    to = names.targets[line.target]
    return Block(relation, "each", to, fields, copy, step, line.sa, line.sb, *arrays)


def _of_runs(
    runs: Runs,
    rows: Ints,
    positions: Numbers,
    names: Names,
    widths: Widths,
    relation: Relation,
) -> list[Block] | None:
    """Rows in runs over neighbouring outputs: an item for every run, and one between two runs."""
    count = len(rows)
    if not count or widths.own != 1 or int(rows[-1]) - int(rows[0]) != count - 1:
        return None
    first, last = int(rows[0]), int(rows[-1])
    start = int(positions[first])
    if int(positions[last]) - start != count - 1:
        return None
    stop = int(np.searchsorted(runs.lo, last, side="right"))
    inside = slice(int(np.searchsorted(runs.hi, first)), stop)
    lo = np.maximum(runs.lo[inside], first)
    hi = np.minimum(runs.hi[inside], last)
    blocks = []
    places = runs.places[inside]
    child = runs.child
    straight = child.straight(places) if len(lo) and bool((places >= 0).all()) else None
    if straight is not None:
        for which, line, along in straight:
            fields, copy = _fields(line.fields, names)
            every = len(which) == len(lo)
            at, until = (lo, hi) if every else (lo[which], hi[which])
            width = zeros(len(at)) if line.a == line.b else np.full(len(at), line.b - line.a)
            item = (at + (start - first), until - at, line.a + along * line.sa, width)
            name = names.targets[line.target]
            blocks.append(Block(relation, "each", name, fields, copy, 1, 0, 0, *item))
    elif len(lo):
        below = child.take(places).entries(rows_from(0, len(places)))
        if not bool((below.row[1:] > below.row[:-1]).all()):
            below = below.sorted()
        kinds = below.target * (len(names.fields) + 1) + below.fields + 1
        for kind in np.flatnonzero(np.bincount(kinds)).tolist() if len(kinds) else ():
            some = below.where(kinds == kind)
            fields, copy = _fields(int(some.fields[0]), names)
            name = names.targets[int(some.target[0])]
            at, more = lo[some.row] - first + start, (hi - lo)[some.row]
            item = (at, more, some.lo, some.hi - some.lo)
            blocks.append(Block(relation, "each", name, fields, copy, 1, 0, 0, *item))
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
        fields, copy = _fields(usual.fields, names)
        width = np.full(len(begins), usual.b - usual.a)
        item = (begins - first + start, ends - begins, usual.a + begins * usual.sa, width)
        to, by = names.targets[usual.target], usual.sa
        blocks.append(Block(relation, "each", to, fields, copy, 1, by, by, *item))
        return blocks
    others, _ = flat_ranges(begins, ends - begins + 1)
    blocks.extend(encode(usual, usual, positions, names, widths, others))
    return [replace(block, relation=relation) for block in blocks]


def _fields(code: int, names: Names) -> tuple[tuple[str, ...] | None, bool]:
    if code == ASKED:
        return None, True
    known = names.fields[code]
    return (None if known is None else tuple(sorted(known))), False


def blocks_of(
    entries: Entries, positions: Ints, names: Names, widths: Widths, relation: Relation
) -> Iterator[Block]:
    """Entries of rows at some positions, as blocks: one or a few for each target and field set."""
    kinds = entries.target * (len(names.fields) + 1) + entries.fields + 1
    known = np.flatnonzero(np.bincount(kinds)).tolist()
    for kind in known:
        part = entries if len(known) == 1 else entries.where(kinds == kind)
        row = part.row
        if not bool((row[1:] > row[:-1]).all()):
            # Of a row that leads to neighbours one by one, as inside a wide window, it is a range.
            part = part.where(np.lexsort((part.lo, row))).joined()
        target, code = int(part.target[0]), int(part.fields[0])
        for some in _by_rank(part):
            alone = Single(target, code, positions[some.row], some.lo, some.hi)
            yield from _items(alone, names, widths, relation)


def _items(alone: Single, names: Names, widths: Widths, relation: Relation) -> Iterator[Block]:
    """Outputs that lead to one interval each, those that go on in step as one item."""
    target, code, here, lo, hi = alone
    if not len(here):
        return
    fields, copy = _fields(code, names)
    to, unit = names.targets[target], widths.others.get(target, 1)
    step = 1 if int(np.bitwise_or.reduce(here)) & (widths.own - 1) else widths.own
    for sa, sb, item in runs_of(here, lo, hi, step, unit):
        yield Block(relation, "each", to, fields, copy, step, sa, sb, *item)


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
