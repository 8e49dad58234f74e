"""Edges, spans and heads of packed chunks, followed from a set of rows to the next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from whence.store.packed import BAND, HEADS, Group, Ints
from whence.store.verbs.columns import Mask, Numbered, covered

__all__ = ["Label", "Way", "ways_of"]

Label = frozenset[str] | None
"""The fields that are asked of events; ``None`` for all of an event."""

AT_ONCE = 1 << 21
"""Outputs of spans that are in memory at a time."""


@dataclass
class Way:
    """Everything of one kind that leads from a stream to a log or stream.

    Attributes:
        source: the number of the stream, or end, that it leaves.
        target: the number of the log or stream that it leads to.
        type: edges, bands or heads.
        asks: the fields that it asks for.
        copies: it passes on what was asked of it instead.
        columns: as in `Group`.
    """

    source: int
    target: int
    type: str
    asks: Label
    copies: bool
    columns: tuple[Ints, ...]

    def label(self, label: Label) -> Label:
        """What is asked below, if this was asked here."""
        return label if self.copies else self.asks

    def numbered_places(self) -> Iterator[tuple[int, Ints]]:
        """The numbers, each with positions that have to be among those numbered."""
        if self.type == "edges":
            yield from zip((self.source, self.target), self.columns, strict=True)
        elif self.type == "heads":
            lo, inner, hi = self.columns
            yield from ((self.source, lo), (self.source, hi[hi >= 0]), (self.target, inner))
        else:
            lo, hi, a, b, sa, sb = self.columns
            yield from ((self.source, lo), (self.source, hi))
            for at in (lo, hi):
                yield self.target, np.maximum(at * sa + a, 0)
                yield self.target, np.maximum(at * sb + b, 0)

    def up(self, reached: Mask, here: Numbered, there: Numbered) -> Mask | Ints:
        """What is reached there from what was reached here: a mask, or rows."""
        if self.type == "edges":
            sources, targets = self.columns
            found: Ints = there.rows(targets[reached[here.rows(sources)]])
            return found
        before = _counted(reached)
        if self.type == "heads":
            lo, inner, hi = self.columns
            begin, end = here.between(lo, _closed(hi, here))
            return there.rows(inner[before[end] > before[begin]])
        begins, ends = [], []
        for outputs, a, b, sa, sb in self._outputs(here, reached=reached):
            begin, end = there.between(outputs * sa + a, outputs * sb + b)
            begins.append(begin)
            ends.append(end)
        lo, hi, a, b, sa, sb = self.columns
        still = (sa == 0) & (sb == 0)
        begin, end = here.between(lo[still], hi[still])
        met = before[end] > before[begin]
        begin, end = there.between(a[still][met], b[still][met])
        return covered(np.concatenate([*begins, begin]), np.concatenate([*ends, end]), there.size)

    def down(self, reached: Mask, here: Numbered, there: Numbered) -> Mask | Ints:
        """What leads to what was reached there: a mask over what is here, or rows of it."""
        if self.type == "edges":
            sources, targets = self.columns
            found: Ints = here.rows(sources[reached[there.rows(targets)]])
            return found
        if self.type == "heads":
            lo, inner, hi = self.columns
            met = reached[there.rows(inner)]
            return covered(*here.between(lo[met], _closed(hi[met], here)), here.size)
        before = _counted(reached)
        rows = [np.empty(0, np.int64)]
        for outputs, a, b, sa, sb in self._outputs(here):
            begin, end = there.between(outputs * sa + a, outputs * sb + b)
            rows.append(here.rows(outputs[before[end] > before[begin]]))
        lo, hi, a, b, sa, sb = self.columns
        still = (sa == 0) & (sb == 0)
        begin, end = there.between(a[still], b[still])
        met = before[end] > before[begin]
        found_mask = covered(*here.between(lo[still][met], hi[still][met]), here.size)
        found_mask[np.concatenate(rows)] = True
        return found_mask

    def _outputs(
        self, here: Numbered, reached: Mask | None = None
    ) -> Iterator[tuple[Ints, Ints, Ints, Ints, Ints]]:
        """The outputs of bands that move, with what their bands say; some millions at a time."""
        lo, hi, a, b, sa, sb = self.columns
        moving = np.flatnonzero((sa != 0) | (sb != 0))
        begin, end = here.between(lo[moving], hi[moving])
        for first, last in _portions(end - begin):
            many = (end - begin)[first:last]
            which = np.repeat(np.arange(first, last), many)
            before = np.concatenate(([0], np.cumsum(many)[:-1]))
            rows = np.arange(len(which)) - np.repeat(before - begin[first:last], many)
            if reached is not None:
                met = reached[rows]
                rows, which = rows[met], which[met]
            at = moving[which]
            yield here.positions(rows), a[at], b[at], sa[at], sb[at]


def _counted(reached: Mask) -> Ints:
    """How many rows before each row were reached."""
    return np.concatenate(([0], np.cumsum(reached)))


def _closed(last: Ints, here: Numbered) -> Ints:
    """The last outputs of heads, those that are open included."""
    end = int(here.positions(np.array([here.size - 1]))[0])
    return np.where(last < 0, end, last)


def _portions(many: Ints) -> Iterator[tuple[int, int]]:
    cuts = [0]
    total = 0
    for at, each in enumerate(many.tolist()):
        total += each
        if total > AT_ONCE:
            cuts.append(at + 1)
            total = 0
    if cuts[-1] < len(many):
        cuts.append(len(many))
    yield from pairwise(cuts)


def ways_of(groups: Iterable[Group], *, support: bool, every: bool, fields: bool) -> list[Way]:
    """What is to be followed, that of one kind together.

    Args:
        groups: of all chunks in question.
        support: follow what supports instead of what explains.
        every: follow every option of a choice, not only the first.
        fields: tell apart which fields are asked for.
    """
    found: dict[tuple[int, int, str, Label, bool], list[tuple[Ints, ...]]] = {}
    for group in groups:
        told = group.properties
        if "witness" in told and not every and 0 not in told["witness"]:
            continue
        if told.get("trigger") and support:
            continue
        if group.type.startswith("wasInfluencedBy") and not support:
            continue
        type = "bands" if group.type.endswith(BAND) else "edges"
        type = "heads" if group.type == HEADS else type
        asks = frozenset(told["fields"]) if fields and "fields" in told else None
        copies = fields and bool(told.get("copy"))
        kind = (group.source, group.target, type, asks, copies)
        found.setdefault(kind, []).append(group.columns)
    return [Way(*kind, _together(kind[2], several)) for kind, several in found.items()]


def _together(type: str, several: list[tuple[Ints, ...]]) -> tuple[Ints, ...]:
    columns = tuple(np.concatenate(each) for each in zip(*several, strict=True))
    if type == "edges":
        order = columns[0]
        if bool((order[1:] < order[:-1]).any()):
            by = np.argsort(order, kind="stable")
            columns = tuple(column[by] for column in columns)
    elif type == "heads":
        # One chunk begins a head, another one may end it: what ended counts.
        lo, inner, hi = columns
        by = np.lexsort((hi, lo, inner))
        last = np.append(np.diff(inner[by]) != 0, True)
        columns = tuple(column[by[last]] for column in (lo, inner, hi))
    return columns
