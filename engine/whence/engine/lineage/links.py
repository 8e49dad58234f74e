"""What leads from one stream to another, in columns to be followed; and along a stream itself.

Events of a stream that build on earlier ones of their own stream are followed a few steps at once
for all of them. A chain may be as long as the log, though: it is then gone through in one pass,
event by event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from whence.engine.lineage.bands import NO_BANDS, Bands
from whence.engine.lineage.block import Block
from whence.engine.lineage.heads import last_of_each
from whence.engine.lineage.positions import Bools, Ints, Positions, flat_ranges, places_in_order
from whence.engine.values.jit import is_compiled, jit

__all__ = ["Links", "bands_of"]

STEPS = 32
"""After that many steps at once one pass is quicker."""
WHOLE = 2
"""After so many looks at all links, too."""
FEW = 8
"""A search for each interval is quicker than a look at each link, if there are 8 links for one."""


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """From where to where: events ``first`` to ``last`` each lead to all from ``lo`` to ``hi``.

    The columns are in the order of ``first``. What moves from output to output stands beside them.

    Attributes:
        first: of each link the first event that it leaves.
        last: the last one.
        lo: the first event that it leads to.
        hi: the last one.
        bands: what moves, from outputs to inputs.
        back: what moves, from inputs back to outputs.
    """

    first: Ints
    last: Ints
    lo: Ints
    hi: Ints
    bands: Bands = NO_BANDS
    back: Bands = NO_BANDS

    @classmethod
    def sorted(cls, first: Ints, last: Ints, lo: Ints, hi: Ints) -> Links:
        """Put columns in order."""
        if not (first[1:] >= first[:-1]).all():
            order = places_in_order(first)
            first, last, lo, hi = _each((first, last, lo, hi), lambda column: column[order])
        return cls(first, last, lo, hi)

    @classmethod
    def of(cls, blocks: Iterable[Block]) -> Links:
        """What some blocks of one stream say; of a zone that was open and has ended the end counts.

        >>> items = (np.array([4]), np.array([2]), np.array([3]), np.array([0]))
        >>> window = Block("explains", "each", "log:log", None, False, 1, 1, 1, *items)
        >>> Links.of([window]).reached(Positions.one(5, 9)).intervals
        ((4, 5),)
        """
        zones: list[tuple[Ints, ...]] = []
        found: list[tuple[Ints, ...]] = []
        bands: list[Bands] = []
        for block in blocks:
            if block.kind == "zones":
                zones.append((block.outputs, block.ends, block.inputs))
            elif block.step == 1 and bool((block.more > 0).any()):
                bands.append(bands_of(block))
            else:
                leads = block.leads()
                found.append((leads.output, leads.output, leads.lo, leads.hi))
        if zones:
            lo, hi, event = _together(zones)
            each = last_of_each(lo, hi, event)
            found.append((lo[each], hi[each], *(event[each],) * 2))
        links = cls.sorted(*_together(found))
        return replace(links, bands=Bands.together(bands)) if bands else links

    @classmethod
    def together(cls, several: Sequence[Links]) -> Links:
        """All of some links."""
        if len(several) == 1:
            return several[0]
        columns = [(each.first, each.last, each.lo, each.hi) for each in several]
        links = cls.sorted(*_together(columns))
        bands = Bands.together([each.bands for each in several])
        return replace(links, bands=bands, back=Bands.together([each.back for each in several]))

    def __len__(self) -> int:
        """How many there are, without what moves."""
        return len(self.first)

    def turned(self) -> Links:
        """From where they lead to back to where they lead from."""
        links = Links.sorted(self.lo, self.hi, self.first, self.last)
        return replace(links, bands=self.back, back=self.bands)

    def reached(self, new: Positions) -> Positions:
        """Where some events lead to."""
        lo, hi = _each((self.lo, self.hi), self._leaving(new))
        found = Positions.joined(lo, hi)
        if len(self.bands):
            found = found.union(self.bands.reached(new))
        return found.union(self.back.leading_to(new)) if len(self.back) else found

    def _leaving(self, new: Positions) -> Callable[[Ints], Ints]:
        """What takes the rows of links that leave some events out of a column."""
        singly = self.first is self.last or bool((self.first == self.last).all())
        if len(new.lo) * FEW >= len(self) or not singly:
            met = new.met_by(self.first, self.last)
            return lambda column: column[met]
        begins = np.searchsorted(self.first, new.lo)
        ends = np.searchsorted(self.first, new.hi, side="right")
        if len(new.lo) == 1:
            only = slice(int(begins[0]), int(ends[0]))
            return lambda column: column[only]
        at, _ = flat_ranges(begins, ends - begins)
        return lambda column: column[at]

    def within(self, start: Positions) -> Positions:
        """What some events lead to in their own stream, however far.

        >>> one, two = np.array([1, 2, 5]), np.array([1, 2, 5])
        >>> back = Links(one, two, np.array([0, 1, 3]), np.array([0, 1, 4]))
        >>> back.within(Positions.one(2, 2)).intervals
        ((0, 1),)
        """
        found = self.reached(start)
        new = found.minus(start)
        steps = looks = 0
        in_order = True
        while new:
            steps += 1
            looks += min(len(new.lo) * FEW + len(found.lo), len(self))
            if in_order and (steps == STEPS or looks > WHOLE * len(self) > 0):
                reached = self._singly()._in_one_pass(start)
                if reached is not None:
                    return reached
                in_order = False
            new = self.reached(new).minus(found)
            found = found.union(new)
        return found

    def _singly(self) -> Links:
        """The same with each output of what moves by itself."""
        several = [Links(self.first, self.last, self.lo, self.hi)]
        several += [Links.sorted(at, at, lo, hi) for at, lo, hi in self.bands.singles()]
        several += [Links.sorted(at, at, lo, hi).turned() for at, lo, hi in self.back.singles()]
        return Links.together(several)

    def _in_one_pass(self, start: Positions) -> Positions | None:
        """What is reached, if all lead to earlier events, or all to later ones."""
        if bool(((self.first == self.last) & (self.hi < self.first)).all()):
            return self._earlier(start)
        if bool(((self.lo == self.hi) & (self.last < self.lo)).all()):
            return self._later(start)
        return None

    def _earlier(self, start: Positions) -> Positions:
        """From single events to earlier ones: the last one first, so that each is decided once."""
        first = np.searchsorted(self.first, self.lo)
        last = np.searchsorted(self.first, self.hi, side="right") - 1
        none = np.zeros(len(self), np.int64)
        met = _run(_met_earlier, start.contains(self.first), first, last, none, none.copy())
        return Positions.joined(self.lo[met], self.hi[met])

    def _later(self, start: Positions) -> Positions:
        """To single later events: the first of them first."""
        order = places_in_order(self.lo)
        to = self.lo[order]
        fresh = np.append(True, to[1:] != to[:-1])
        targets, rank = to[fresh], np.cumsum(fresh) - 1
        below = np.searchsorted(targets, self.first)[order]
        above = np.searchsorted(targets, self.last, side="right")[order]
        met = start.met_by(self.first, self.last)[order]
        counted = np.zeros(len(self) + 1, np.int64)
        met = _run(_met_later, met, below, above, rank, counted)
        return Positions.of(to[met])


_EMPTY = np.empty(0, np.int64)


def _each(columns: Sequence[Ints], change: Callable[[Ints], Ints]) -> list[Ints]:
    """Change columns, those that are one and the same only once: they stay one."""
    known: dict[int, Ints] = {}
    for column in columns:
        if id(column) not in known:
            known[id(column)] = change(column)
    return [known[id(column)] for column in columns]


def _together(rows: Sequence[tuple[Ints, ...]]) -> list[Ints]:
    """Columns of several one after the other; those that are the same in all stay one."""
    if not rows:
        return [_EMPTY] * 4
    if len(rows) == 1:
        return list(rows[0])
    known: dict[tuple[int, ...], Ints] = {}
    columns = [(tuple(map(id, column)), column) for column in zip(*rows, strict=True)]
    for name, column in columns:
        if name not in known:
            known[name] = np.concatenate(column)
    return [known[name] for name, _ in columns]


def bands_of(block: Block) -> Bands:
    """Items whose outputs follow each other, as bands."""
    last = block.outputs + np.maximum(block.more, 0)
    a = block.inputs - block.outputs * block.sa
    b = block.inputs + block.width - block.outputs * block.sb
    return Bands(block.outputs, last, a, b, np.full_like(a, block.sa), np.full_like(b, block.sb))


def _run(loop: Callable[..., None], met: Bools, *columns: Ints) -> Bools:
    """Let a loop decide which links are met; where it is not compiled, lists are quicker."""
    if is_compiled(len(met)):
        loop(met, *columns)
        return met
    decided = met.tolist()
    loop(decided, *(column.tolist() for column in columns))
    return np.array(decided, np.bool_)


@jit
def _met_earlier(met: Bools, first: Ints, last: Ints, begins: Ints, ends: Ints) -> None:
    """Links, each of which leads to those from ``first`` to ``last``, which come before it."""
    over = 0  # ranges that are reached and hold the link that is looked at
    for at in range(len(met) - 1, -1, -1):
        over += begins[at]
        if over > 0 or met[at]:
            met[at] = True
            if first[at] <= last[at]:
                begins[last[at]] += 1
                ends[first[at]] += 1
        over -= ends[at]


@jit
def _met_later(met: Bools, below: Ints, above: Ints, rank: Ints, counted: Ints) -> None:
    """Links in the order of their targets, each from the targets from ``below`` to ``above`` on.

    ``counted`` says how many targets before each one are reached; links with one target are decided
    together, since those that it leads from come before it.
    """
    at = 0
    for target in range(len(met)):
        hit = 0
        while at < len(met) and rank[at] == target:
            if met[at] or counted[above[at]] > counted[below[at]]:
                met[at] = True
                hit = 1
            at += 1
        counted[target + 1] = counted[target] + hit
