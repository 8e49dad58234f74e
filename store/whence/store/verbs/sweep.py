"""Up and down through a whole run at once, on the packed columns of its chunks.

Streams of a chain lead to each other in one direction, so that one pass over them, in that order,
follows everything: what is reached of a stream is a mask, and each way from it to another stream a
few array operations. Inside a stream events lead to earlier ones (a state to the state before): a
pass over these edges in order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import numpy as np

from whence.engine.lineage.positions import Positions
from whence.store.catalog import RunGraph, StoredLog
from whence.store.packed import Ints
from whence.store.places import Places, last_position
from whence.store.verbs.columns import Mask, Numbered
from whence.store.verbs.ways import Label, Way

__all__ = ["Labelled", "sweep"]

Labelled = dict[Label, Places]
"""Places by the fields that are asked of them."""

ROUNDS = 50
"""So often the fields that are asked inside a stream may change before the columns give up."""


def sweep(
    run: RunGraph,
    ways: Iterable[Way],
    start: Mapping[Label, Places],
    *,
    down: bool,
    of: Collection[int] | None = None,
) -> Labelled | None:
    """Everything that is reached from some places; they themselves are part of it.

    Args:
        run: the run.
        ways: what leads where.
        start: the places, by the fields that are asked of them.
        down: from what is led to, to what leads there.
        of: only what is reached of these logs and streams is told; of all, unless given.

    Returns:
        ``None`` where columns do not do: streams that lead to each other in a circle, which only
        choices do, and bands inside a Slice.
    """
    found = _Sweep(run, list(ways), down)
    order = found.order()
    if order is None or not found.begin(start):
        return None
    for no in order:
        if not found.inside(no):
            return None
        found.leave(no)
    return found.told(start, of)


class _Sweep:
    def __init__(self, run: RunGraph, ways: list[Way], down: bool) -> None:
        self.run = run
        self.ways = ways
        self.down = down
        self.masks: dict[int, dict[Label, Mask]] = {}
        self.numbered: dict[int, Numbered] = {}

    def order(self) -> list[int] | None:
        """The numbers, each before those that it leads to; none if there is no such order."""
        leads: dict[int, set[int]] = {}
        for way in self.ways:
            leads.setdefault(way.source, set())
            leads.setdefault(way.target, set())
            if way.source != way.target:
                leads[way.source].add(way.target)
        order: list[int] = []
        while leads:
            last = [no for no, to in leads.items() if not to - set(order)]
            if not last:
                return None
            order += last
            for no in last:
                del leads[no]
        return order if self.down else order[::-1]

    def begin(self, start: Mapping[Label, Places]) -> bool:
        """Number what there is, and put the start into masks; say whether that can be done."""
        columns: dict[int, list[Ints]] = {}
        dense: set[int] = set()
        for way in self.ways:
            if way.type == "bands":
                if way.source == way.target or {way.source, way.target} & self._inner():
                    return False
                dense |= {way.source, way.target}
            elif way.type == "heads":
                dense.add(way.source)
            for no, places in way.numbered_places():
                columns.setdefault(no, []).append(np.minimum(places, self._last(no)))
        for no, several in columns.items():
            w = self.run.event_streams[no].w if no in self.run.event_streams else 1
            self.numbered[no] = Numbered(several, w, dense=no in dense)
            self.masks[no] = {
                label: self.numbered[no].mask(places[no])
                for label, places in start.items()
                if places.get(no)
            }
        return True

    def _inner(self) -> set[int]:
        return {no for no, stream in self.run.event_streams.items() if stream.w > 1}

    def _last(self, no: int) -> int:
        """The last position that can be: a band may lead past the end of a log or stream."""
        known = self.run.by_no.get(no)
        if isinstance(known, StoredLog):
            return known.length - 1
        stream = self.run.event_streams.get(no)
        return last_position(no) if stream is None or stream.w > 1 else stream.length - 1

    def leave(self, no: int) -> None:
        """Follow every way that leaves a stream for another one, or leads to it from there."""
        for way in self.ways:
            here, there = (way.target, way.source) if self.down else (way.source, way.target)
            if here != no or here == there:
                continue
            for label, reached in list(self.masks[no].items()):
                found = self._followed(way, reached)
                self._add(there, way.label(label), found)

    def _followed(self, way: Way, reached: Mask) -> Mask | Ints:
        both = self.numbered[way.source], self.numbered[way.target]
        return way.down(reached, *both) if self.down else way.up(reached, *both)

    def _add(self, no: int, label: Label, found: Mask | Ints) -> bool:
        """Add what was reached; say whether any of it is new."""
        known = self.masks[no].get(label)
        if known is None:
            known = self.masks[no][label] = np.zeros(self.numbered[no].size, np.bool_)
        if found.dtype == np.bool_:
            new = bool((found & ~known).any())
            np.logical_or(known, found, out=known)
        else:
            new = not bool(known[found].all())
            known[found] = True
        return new

    def inside(self, no: int) -> bool:
        """Follow what leads from events of a stream to others of it; say whether it was done."""
        own = [way for way in self.ways if way.source == way.target == no]
        waiting = list(self.masks[no]) if own else []
        for _ in range(ROUNDS):
            if not waiting:
                return True
            label = waiting.pop()
            stays = [way for way in own if way.label(label) == label]
            if stays and not self._pass(no, label, stays):
                return False
            for way in own:
                below = way.label(label)
                if below != label:
                    found = self._followed(way, self.masks[no][label])
                    if self._add(no, below, found) and below not in waiting:
                        waiting.append(below)
        return not waiting

    def _pass(self, no: int, label: Label, ways: list[Way]) -> bool:
        """One pass over edges inside a stream, which all lead to earlier events, or to later."""
        rows = self.numbered[no].rows
        sources = np.concatenate([rows(way.columns[0]) for way in ways])
        targets = np.concatenate([rows(way.columns[1]) for way in ways])
        back = bool((targets < sources).all())
        if not back and not bool((targets > sources).all()):
            return False
        known = self.masks[no][label]
        here, there = (targets, sources) if self.down else (sources, targets)
        if bool(known[there[known[here]]].all()):
            return True
        # What may be reached by one edge has to be complete before the next one is followed.
        order = np.argsort(here, kind="stable")
        if back != self.down:
            order = order[::-1]
        reached = bytearray(known.tobytes())
        for one, other in zip(here[order].tolist(), there[order].tolist(), strict=True):
            if reached[one]:
                reached[other] = 1
        self.masks[no][label] = np.frombuffer(reached, np.bool_).copy()
        return True

    def told(self, start: Mapping[Label, Places], of: Collection[int] | None) -> Labelled:
        """Everything that was reached, as ranges."""
        result: Labelled = {}
        wanted = self.masks.keys() | {no for places in start.values() for no in places}
        for no in sorted(wanted if of is None else wanted & set(of)):
            labels = {*self.masks.get(no, ()), *(label for label in start if no in start[label])}
            for label in labels:
                found = Positions.of_intervals(start.get(label, {}).get(no, ()))
                if label in self.masks.get(no, ()):
                    rows = np.flatnonzero(self.masks[no][label])
                    found = found.union(Positions.of(self.numbered[no].positions(rows)))
                if found:
                    result.setdefault(label, {})[no] = found.intervals
        return result
