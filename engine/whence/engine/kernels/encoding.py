"""From trails to compact associations: neighbours that go on in step become one item."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from whence.engine.associations import Relation
from whence.engine.compact import Block
from whence.engine.kernels.columns import Bools, Ints
from whence.engine.kernels.entries import ASKED, Entries, Names, join_entries
from whence.engine.kernels.trails import Chosen, Line, Nothing, Trail

__all__ = ["blocks_of", "encode"]

_SHORTEST = 2
"""On average so many outputs an item, or runs are not worth their trouble."""

_Part = tuple[Bools | None, Trail]


class Widths(NamedTuple):
    """By what positions are multiplied: in the stream itself, and in the others, by number."""

    own: int
    others: dict[int, int]


def encode(
    why: Trail,
    sup: Trail,
    positions: Ints,
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
    rows = np.arange(len(positions)) if chosen is None else chosen
    blocks: list[Block] = []
    for relation, parts in _split(why, sup, rows):
        rest: list[Entries] = []
        for part in parts:
            if isinstance(part, Line):
                line = _line(part, rows, positions, names, widths, relation)
                if line is not None:
                    blocks.append(line)
                    continue
            rest.append(part.entries(rows) if isinstance(part, Trail) else part)
        entries = join_entries(rest)
        if len(entries.row):
            blocks.extend(blocks_of(entries, positions[rows], names, widths, relation))
    return blocks


def _split(
    why: Trail, sup: Trail, rows: Ints
) -> Iterator[tuple[Relation, Sequence[Trail | Entries]]]:
    """What explains and supports, what only explains, and what only supports.

    Parts that both trails share are told apart by identity alone; the rest is compared.
    """
    if why is sup:
        yield "explains", [_alone(part, len(why)) for part in _parts(why)]
        return
    of_why, of_sup = _parts(why), _parts(sup)
    shared = _marks(of_why) & _marks(of_sup)
    yield "explains", [_alone(p, len(why)) for p in of_why if _mark(p) in shared]
    more = [_alone(p, len(why)) for p in of_why if _mark(p) not in shared]
    enough = [_alone(p, len(why)) for p in of_sup if _mark(p) not in shared]
    if not more or not enough:
        yield "trigger", more
        yield "supports", enough
        return
    left = join_entries([part.entries(rows) for part in more]).sorted()
    right = join_entries([part.entries(rows) for part in enough]).sorted()
    in_right, in_left = _common(left, right)
    yield "explains", [left.where(in_right)]
    yield "trigger", [left.where(~in_right)]
    yield "supports", [right.where(~in_left)]


def _parts(trail: Trail) -> list[_Part]:
    if isinstance(trail, Nothing):
        return []
    if not isinstance(trail, Chosen):
        return [(None, trail)]
    found: list[_Part] = []
    for mask, child in trail.parts:
        found.extend(_parts(child) if mask is None else [(mask, child)])
    return found


def _mark(part: _Part) -> tuple[int, int]:
    return id(part[0]), id(part[1])


def _marks(parts: list[_Part]) -> set[tuple[int, int]]:
    return {_mark(part) for part in parts}


def _alone(part: _Part, count: int) -> Trail:
    mask, trail = part
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
    line: Line, rows: Ints, positions: Ints, names: Names, widths: Widths, relation: Relation
) -> Block | None:
    """A line over neighbouring outputs is one item."""
    count = len(rows)
    if not count or line.b < line.a or int(rows[-1]) - int(rows[0]) != count - 1:
        return None
    first = int(rows[0])
    here = positions[rows]
    step = widths.own if count > 1 and int(here[1] - here[0]) == widths.own else 1
    if count > 1 and not bool((here[1:] - here[:-1] == step).all()):
        return None
    lo, hi = line.a + first * line.sa, line.b + first * line.sb
    if hi < lo or hi + (count - 1) * line.sb < lo + (count - 1) * line.sa:
        return None
    item = (int(here[0]), count - 1, lo, hi - lo)
    arrays = (np.array([number], np.int64) for number in item)
    fields, copy = _fields(line.fields, names)
    to = names.targets[line.target]
    return Block(relation, "each", to, fields, copy, step, line.sa, line.sb, *arrays)


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
    first = int(kinds[0])
    every = bool((kinds == first).all())
    for kind in [first] if every else np.unique(kinds).tolist():
        part = entries if every else entries.where(kinds == kind)
        row = part.row
        if not bool((row[1:] >= row[:-1]).all()):
            part = part.where(np.lexsort((part.lo, row)))
        target, code = int(part.target[0]), int(part.fields[0])
        fields, copy = _fields(code, names)
        to, unit = names.targets[target], widths.others.get(target, 1)
        for some in _by_rank(part):
            here = positions[some.row]
            step = widths.own if not bool((here & (widths.own - 1)).any()) else 1
            for sa, sb, item in _runs(here, some.lo, some.hi, step, unit):
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


def _runs(
    here: Ints, lo: Ints, hi: Ints, step: int, unit: int
) -> Iterator[tuple[int, int, tuple[Ints, Ints, Ints, Ints]]]:
    """Neighbouring outputs whose intervals go on in step, by step; single ones among them."""
    count = len(here)
    slopes = [0, 1] if unit == 1 else [0, 1, unit]
    begins = np.ones(count, np.bool_)
    code = np.full(count, -1)
    if count > 1:
        by_lo, by_hi = np.diff(lo), np.diff(hi)
        goes_on = np.diff(here) == step
        for a, sa in enumerate(slopes):
            for b, sb in enumerate(slopes):
                code[1:][goes_on & (by_lo == sa) & (by_hi == sb)] = a * len(slopes) + b
        # A run ends where the step changes; what follows is measured from the next one on.
        begins[1:] = (code[1:] < 0) | ((code[:-1] >= 0) & (code[1:] != code[:-1]))
    starts = np.flatnonzero(begins)
    if count < _SHORTEST * len(starts):
        yield 0, 0, (here, np.zeros(count, np.int64), lo, hi - lo)
        return
    more = np.diff(np.append(starts, count)) - 1
    of_run = np.where(more > 0, code[np.minimum(starts + 1, count - 1)], -1)
    kinds = np.unique(of_run[of_run >= 0]).tolist()
    of_run = np.where(of_run < 0, kinds[0] if kinds else 0, of_run)
    for kind in kinds or [0]:
        chosen = starts[of_run == kind]
        item = (here[chosen], more[of_run == kind], lo[chosen], hi[chosen] - lo[chosen])
        yield slopes[kind // len(slopes)], slopes[kind % len(slopes)], item
