"""What a chunk holds in a few bytes, beside the relationships themselves.

Whoever asks about all outputs of a run needs all its edges, and a relationship read through Cypher
costs a microsecond or two. The same edges as columns of differences, compressed, are read in a few
milliseconds a million. The relationships stay what counts: ``whence store check`` compares these
bytes with them.

A packed chunk is a line of JSON and what it speaks of. For each group of edges the line says what
kind they are, between which logs or streams they lead, how many they are, and of each column its
first number and how wide its differences are. Then follow the differences, compressed together.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from whence.store.places import LAST_POSITION, POSITION_BITS, WIDE, WIDE_BITS

__all__ = ["BAND", "HEADS", "Bounds", "Group", "Ints", "Packing", "bounds_of", "unpack"]

Ints = npt.NDArray[np.int64]

HEADS = "heads"
"""What a group of heads has in the place of a relationship's type."""
BAND = " band"
"""What follows the type of the relationships in a group of spans with bands."""
CODEC = "zstd"
WIDTHS = ("i1", "<i2", "<i4", "<i8")


@dataclass(frozen=True)
class Bounds:
    """Where some edges lead from and to.

    Attributes:
        source: the number of the stream that they leave.
        target: the number of the log or stream that they lead to.
        first: the first position that they leave.
        last: the last one.
        low: the first position that they lead to.
        high: the last one.
    """

    source: int
    target: int
    first: int
    last: int
    low: int
    high: int


@dataclass(frozen=True)
class Group:
    """Edges, spans or heads of one kind from one stream to one log or stream, in order.

    Attributes:
        type: ``wasDerivedFrom`` or ``wasInfluencedBy``, of spans with `BAND`; `HEADS` for heads.
        properties: those of each of the relationships, without those of a band itself.
        source: the number of the stream, or end of a pipe, that they leave.
        target: the number of the log or stream that they lead to.
        columns: of edges their sources and targets; of spans lo, hi, a, b, sa, sb; of heads the
            first output that each is the head for, the inner event, and the last output, -1 where
            that is open. All but a, b, sa and sb are positions.
    """

    type: str
    properties: Mapping[str, Any]
    source: int
    target: int
    columns: tuple[Ints, ...]

    @property
    def bounds(self) -> Bounds:
        """Where they lead from and to."""
        lo, low = self.columns[:2]
        last, high = lo, low
        if self.type == HEADS:
            (last,) = self.columns[2:]
            last = np.where(last < 0, LAST_POSITION, last)
        elif self.type.endswith(BAND):
            lo, last, a, b, sa, sb = self.columns
            low = np.maximum(np.minimum(lo * sa, last * sa) + a, 0)
            high = np.maximum(np.maximum(lo * sb, last * sb) + b, 0)
        ends = int(lo.min()), int(last.max()), int(low.min()), int(high.max())
        return Bounds(self.source, self.target, *ends)


class Packing:
    """Collects what a chunk holds, in any order and any pieces.

    >>> packing = Packing()
    >>> packing.edges("wasDerivedFrom", {}, [(7 << 40) + 1, 7 << 40], [1, 0])
    >>> [(g.source, g.target, g.columns[0].tolist()) for g in unpack(packing.packed()[0])]
    [(7, 0, [0, 1])]
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self._pieces: dict[tuple[str, str], list[Ints]] = {}

    def edges(
        self,
        type: str,
        properties: Mapping[str, Any],
        sources: Sequence[int],
        targets: Sequence[int],
    ) -> None:
        """Add edges of one type with the same properties, each from a key to a key."""
        (no, one), (to, other) = (_split(np.asarray(keys, np.int64)) for keys in (sources, targets))
        self._add(type, properties, no, to, one, other)

    def bands(
        self, type: str, properties: Mapping[str, Any], rows: Sequence[Sequence[int]]
    ) -> None:
        """Add spans with their bands, each (no, lo, hi, number it leads to, a, b, sa, sb)."""
        no, lo, hi, to, *band = np.asarray(rows, np.int64).reshape(-1, 8).T
        self._add(f"{type}{BAND}", properties, no, to, lo, hi, *band)

    def heads(self, rows: Sequence[Sequence[int]]) -> None:
        """Add heads, each (its key, no, lo, hi), -1 where that is open."""
        key, no, lo, hi = np.asarray(rows, np.int64).reshape(-1, 4).T
        to, inner = _split(key)
        self._add(HEADS, {}, no, to, lo, inner, hi)

    def _add(self, type: str, properties: Mapping[str, Any], *columns: Ints) -> None:
        told = json.dumps(dict(properties), sort_keys=True, separators=(",", ":"))
        if len(columns[0]):
            self._pieces.setdefault((type, told), []).append(np.stack(columns))

    def groups(self) -> Iterator[Group]:
        """All of it, in an order that depends on nothing else."""
        for type, told in sorted(self._pieces):
            rows = np.concatenate(self._pieces[type, told], axis=1)
            rows = rows[:, np.lexsort(rows[::-1])]
            changes = np.flatnonzero((np.diff(rows[:2], axis=1) != 0).any(axis=0)) + 1
            for some in np.split(rows, changes, axis=1):
                nos = int(some[0, 0]), int(some[1, 0])
                yield Group(type, json.loads(told), *nos, tuple(some[2:]))

    def packed(self) -> tuple[bytes, list[int]]:
        """All of it, and where its groups begin and end as `bounds_of` reads it."""
        told: list[list[Any]] = []
        body: list[bytes] = []
        ends: list[int] = []
        for group in self.groups():
            narrow = [_narrow(column) for column in group.columns]
            about = [group.type, group.properties, group.source, group.target]
            firsts = [int(column[0]) for column in group.columns]
            widths = [each.dtype.str for each in narrow]
            told.append([*about, len(group.columns[0]), firsts, widths])
            body += [each.tobytes() for each in narrow]
            ends += astuple(group.bounds)
        if not told:
            return b"", []
        whole = b"".join(body)
        head = json.dumps({"size": len(whole), "groups": told}, separators=(",", ":"))
        return head.encode() + b"\n" + pa.compress(whole, codec=CODEC, asbytes=True), ends


def unpack(packed: bytes) -> Iterator[Group]:
    """The groups of a chunk."""
    if not packed:
        return
    head, _, rest = packed.partition(b"\n")
    told = json.loads(head)
    body = pa.decompress(rest, told["size"], codec=CODEC, asbytes=True)
    at = 0
    for type, properties, source, target, many, firsts, widths in told["groups"]:
        columns: list[Ints] = []
        for first, width in zip(firsts, widths, strict=True):
            steps = np.frombuffer(body, width, many - 1, at)
            at += steps.nbytes
            column = np.empty(many, np.int64)
            column[0] = first
            column[1:] = steps
            columns.append(np.cumsum(column, out=column))
        yield Group(type, properties, source, target, tuple(columns))


def bounds_of(numbers: Sequence[int]) -> list[Bounds]:
    """The bounds that a marker tells of.

    >>> bounds_of([7, 1, 0, 9, 3, 12])[0].high
    12
    """
    return [Bounds(*numbers[at : at + 6]) for at in range(0, len(numbers), 6)]


def _split(keys: Ints) -> tuple[Ints, Ints]:
    """The numbers and the positions in keys; see `no_of` and `position_of`."""
    nos = keys >> POSITION_BITS
    nos = np.where(nos < WIDE, nos, nos >> WIDE_BITS << WIDE_BITS)
    return nos, keys - (nos << POSITION_BITS)


def _narrow(column: Ints) -> npt.NDArray[Any]:
    """The differences of neighbours, in as few bytes as they fit into."""
    steps = np.diff(column)
    least, most = (int(steps.min()), int(steps.max())) if len(steps) else (0, 0)
    fits = (w for w in WIDTHS if np.iinfo(w).min <= least and most <= np.iinfo(w).max)
    return steps.astype(next(fits))
