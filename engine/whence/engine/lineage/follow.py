"""The one follower: everything that some events lead to, up to what explains or down from there.

What leads from one stream to another is `Links`, a few columns made from blocks. Streams mostly
lead to each other in one direction; in that order each is followed once, when all that is reached
of it is known. Events of a stream that build on earlier ones of their own stream are followed a few
steps at once for all of them. A chain may be as long as the log, though: it is then gone through in
one pass, event by event.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from whence.engine.lineage.association import Relation
from whence.engine.lineage.block import Block
from whence.engine.lineage.heads import last_of_each
from whence.engine.lineage.positions import NONE, Ints, Positions, flat_ranges

__all__ = ["EXPLAINS", "SUPPORTS", "Label", "Lineage", "Links", "Place", "Way", "follow"]

EXPLAINS: tuple[Relation, ...] = ("explains", "trigger")
SUPPORTS: tuple[Relation, ...] = ("explains", "supports")

Label = frozenset[str] | None
"""The fields that are asked of events; ``None`` for all of an event."""
Place = tuple[str, Label]
"""A log or stream, and the fields that are asked of its events."""

STEPS = 32
"""After that many steps at once one pass is quicker."""
FEW = 8
"""A search for each interval is quicker than a look at each link, if there are 8 links for one."""


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """From where to where: events ``first`` to ``last`` each lead to all from ``lo`` to ``hi``.

    The columns are in the order of ``first``.
    """

    first: Ints
    last: Ints
    lo: Ints
    hi: Ints

    @classmethod
    def sorted(cls, first: Ints, last: Ints, lo: Ints, hi: Ints) -> Links:
        """Put columns in order."""
        if not (first[1:] >= first[:-1]).all():
            order = np.argsort(first, kind="stable")
            first, last, lo, hi = first[order], last[order], lo[order], hi[order]
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
        found: list[tuple[Ints, ...]] = [(_EMPTY,) * 4]
        for block in blocks:
            if block.kind == "zones":
                zones.append((block.outputs, block.ends, block.inputs))
            else:
                leads = block.leads()
                found.append((leads.output, leads.output, leads.lo, leads.hi))
        if zones:
            lo, hi, event = (np.concatenate(several) for several in zip(*zones, strict=True))
            each = last_of_each(lo, hi, event)
            found.append((lo[each], hi[each], event[each], event[each]))
        return cls.sorted(*(np.concatenate(several) for several in zip(*found, strict=True)))

    @classmethod
    def together(cls, several: Sequence[Links]) -> Links:
        """All of some links."""
        if len(several) == 1:
            return several[0]
        columns = zip(*((each.first, each.last, each.lo, each.hi) for each in several), strict=True)
        return cls.sorted(*(np.concatenate(column) for column in columns))

    def __len__(self) -> int:
        """How many there are."""
        return len(self.first)

    def turned(self) -> Links:
        """From where they lead to back to where they lead from."""
        return Links.sorted(self.lo, self.hi, self.first, self.last)

    def reached(self, new: Positions) -> Positions:
        """Where some events lead to."""
        if len(new.lo) * FEW < len(self) and bool((self.first == self.last).all()):
            begins = np.searchsorted(self.first, new.lo)
            ends = np.searchsorted(self.first, new.hi, side="right")
            at, _ = flat_ranges(begins, ends - begins)
            return Positions.joined(self.lo[at], self.hi[at])
        met = new.met_by(self.first, self.last)
        return Positions.joined(self.lo[met], self.hi[met])

    def within(self, start: Positions) -> Positions:
        """What some events lead to in their own stream, however far.

        >>> one, two = np.array([1, 2, 5]), np.array([1, 2, 5])
        >>> back = Links(one, two, np.array([0, 1, 3]), np.array([0, 1, 4]))
        >>> back.within(Positions.one(2, 2)).intervals
        ((0, 1),)
        """
        found = new = self.reached(start)
        steps = 0
        while new := self.reached(new).minus(found):
            found = found.union(new)
            steps += 1
            if steps == STEPS and self._to_earlier():
                return self._earlier(start)
            if steps == STEPS and self._to_later():
                return self._later(start)
        return found

    def _to_earlier(self) -> bool:
        return bool(((self.first == self.last) & (self.hi < self.first)).all())

    def _to_later(self) -> bool:
        return bool(((self.lo == self.hi) & (self.last < self.lo)).all())

    def _earlier(self, start: Positions) -> Positions:
        """From single events to earlier ones: the last one first, so that each is decided once."""
        source = self.first
        first = np.searchsorted(source, self.lo).tolist()
        last = (np.searchsorted(source, self.hi, side="right") - 1).tolist()
        taken = start.contains(source).tolist()
        begins, ends = [0] * len(self), [0] * len(self)
        over = 0  # ranges that are reached and hold the event that is looked at
        for at in range(len(self) - 1, -1, -1):
            over += begins[at]
            if over or taken[at]:
                taken[at] = True
                if first[at] <= last[at]:
                    begins[last[at]] += 1
                    ends[first[at]] += 1
            over -= ends[at]
        met = np.array(taken, np.bool_)
        return Positions.joined(self.lo[met], self.hi[met])

    def _later(self, start: Positions) -> Positions:
        """To single later events: the first of them first."""
        order = np.argsort(self.lo, kind="stable")
        first, last, to = self.first[order], self.last[order], self.lo[order]
        met = start.met_by(first, last)
        found: list[int] = []
        columns = (column.tolist() for column in (met, first, last, to))
        for begun, lo, hi, at in zip(*columns, strict=True):
            if not begun:
                near = bisect_right(found, hi) - 1
                begun = near >= 0 and found[near] >= lo
            if begun and not (found and found[-1] == at):
                found.append(at)
        return Positions.of(np.array(found, np.int64))


_EMPTY = np.empty(0, np.int64)


class Way(NamedTuple):
    """Everything of one kind that leads from a stream to a log or stream.

    Attributes:
        to: where it leads to.
        links: from where to where.
        asks: the fields that it asks for.
        copies: it passes on what was asked of it instead.
    """

    to: str
    links: Links
    asks: Label = None
    copies: bool = False

    def label(self, label: Label) -> Label:
        """What is asked where it leads to, if this was asked where it begins."""
        return label if self.copies else self.asks


Ways = Callable[[str], Sequence[Way]]


def follow(start: Mapping[Place, Positions], ways: Ways) -> dict[Place, Positions]:
    """Everything that some events lead to, they themselves included.

    Args:
        start: the events.
        ways: what leads on from a log or stream.
    """
    rank = _ranks(dict.fromkeys(name for name, _ in start), ways)
    seen: dict[Place, Positions] = {}
    waiting = dict(start)
    while waiting:
        place = min(waiting, key=lambda place: rank[place[0]])
        name, label = place
        new = waiting.pop(place).minus(seen.get(place, NONE))
        if not new:
            continue
        further = [(way, (way.to, way.label(label))) for way in ways(name)]
        own = [way.links for way, to in further if to == place]
        if own:
            new = new.union(Links.together(own).within(new)).minus(seen.get(place, NONE))
        seen[place] = new.union(seen.get(place, NONE))
        for way, to in further:
            if to != place and (reached := way.links.reached(new)):
                waiting[to] = reached.union(waiting.get(to, NONE))
    return seen


def _ranks(begin: Iterable[str], ways: Ways) -> dict[str, int]:
    """An order in which streams come before those that they lead to, unless they lead around."""
    done: dict[str, int] = {}
    open_: set[str] = set()
    stack = [(name, False) for name in begin]
    while stack:
        name, over = stack.pop()
        if over:
            done[name] = -len(done)
        elif name not in open_:
            open_.add(name)
            stack.append((name, True))
            stack += [(way.to, False) for way in ways(name) if way.to not in open_]
    return done


class Lineage:
    """What leads where, in blocks: what the questions of a run begin with.

    Args:
        streams: the names of the streams.
        blocks: everything that is said of a stream's outputs; read when it is first needed.
        every: whether all alternatives count, and not only the first one.
    """

    def __init__(
        self,
        streams: Iterable[str],
        blocks: Callable[[str], Iterable[Block]],
        *,
        every: bool = False,
    ) -> None:
        """Read nothing yet."""
        self._streams = frozenset(streams)
        self._read = blocks
        self._every = every
        self._blocks: dict[str, tuple[Block, ...]] = {}
        self._links: dict[tuple[str, Relation], dict[tuple[str, Label, bool], Links]] = {}
        self._known: dict[tuple[str, bool, bool], list[Way]] = {}

    def blocks(self, stream: str) -> tuple[Block, ...]:
        """What counts of what is said of a stream's outputs."""
        if stream not in self._blocks:
            found = self._read(stream) if stream in self._streams else ()
            self._blocks[stream] = tuple(b for b in found if self._every or b.is_first)
        return self._blocks[stream]

    def links(self, stream: str, relation: Relation) -> dict[tuple[str, Label, bool], Links]:
        """What leads from a stream by a relation: by target, fields and whether it copies."""
        found = self._links.get((stream, relation))
        if found is None:
            alike: dict[tuple[str, Label, bool], list[Block]] = {}
            for block in self.blocks(stream):
                if block.relation == relation:
                    fields = None if block.fields is None else frozenset(block.fields)
                    alike.setdefault((block.to, fields, block.copy), []).append(block)
            found = {kind: Links.of(several) for kind, several in alike.items()}
            self._links[stream, relation] = found
        return found

    def _ways(self, *, support: bool, fields: bool) -> Ways:
        def ways(stream: str) -> list[Way]:
            found = self._known.get((stream, support, fields))
            if found is None:
                alike: dict[tuple[str, Label, bool], list[Links]] = {}
                for relation in SUPPORTS if support else EXPLAINS:
                    for (to, asks, copies), links in self.links(stream, relation).items():
                        kind = (to, asks, copies) if fields else (to, None, False)
                        alike.setdefault(kind, []).append(links)
                found = self._known[stream, support, fields] = [
                    Way(to, Links.together(several), asks, copies)
                    for (to, asks, copies), several in alike.items()
                ]
            return found

        return ways

    def up(self, start: Mapping[str, Positions], *, support: bool = False) -> dict[str, Positions]:
        """Everything that explains, or supports, some events; they themselves are part of it.

        Args:
            start: the events, by stream.
            support: follow what supports instead of what explains.
        """
        begin: dict[Place, Positions] = {(name, None): at for name, at in start.items()}
        found = follow(begin, self._ways(support=support, fields=False))
        return {name: places for (name, _), places in found.items()}

    def up_fields(
        self, start: Mapping[str, Positions], *, support: bool = False
    ) -> dict[Place, Positions]:
        """The same with the fields that are asked on the way."""
        begin: dict[Place, Positions] = {(name, None): at for name, at in start.items()}
        return follow(begin, self._ways(support=support, fields=True))

    def down(
        self, start: Mapping[str, Positions], *, support: bool = False
    ) -> dict[str, Positions]:
        """Everything that some events explain, or support; they themselves are part of it."""
        forth = self._ways(support=support, fields=False)
        back: dict[str, list[Way]] = {}
        for stream in sorted(self._streams):
            for way in forth(stream):
                back.setdefault(way.to, []).append(Way(stream, way.links.turned()))
        begin: dict[Place, Positions] = {(name, None): at for name, at in start.items()}
        found = follow(begin, lambda name: back.get(name, ()))
        return {name: places for (name, _), places in found.items()}
