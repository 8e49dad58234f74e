"""Spans: outputs that share an association, read from the graph and followed both ways."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from whence.engine.lineage.association import LOG_PREFIX, Association, Relation
from whence.engine.lineage.positions import Range, joined, meeting
from whence.store.catalog import RunGraph, StoredLog, StoredStream
from whence.store.connection import Connection
from whence.store.cypher import cypher
from whence.store.places import LAST_POSITION, Places, no_of, position_of

__all__ = [
    "Span",
    "bands_to",
    "gathered",
    "leads_back",
    "name_in_record",
    "relation_of",
    "spans_of",
    "wanted_relations",
]


@dataclass(frozen=True, slots=True)
class Span:
    """A span as it is in the graph.

    Attributes:
        no: the stream whose outputs it speaks of.
        to: the log or stream that it leads to.
        row: what it says, as the record would.
    """

    no: int
    to: int
    row: Association

    def reaches(self, places: Places) -> Iterator[Range]:
        """Where it leads to from some of its outputs."""
        last = LAST_POSITION if self.row.hi is None else self.row.hi
        for lo, hi in meeting(places.get(self.no, ()), self.row.lo, last):
            yield from self.row.reaches(lo, hi)
            if self.row.kind == "zone":
                return  # every output leads to the same event

    def reached_from(self, places: Places) -> Iterator[Range]:
        """Which of its outputs lead to some of these places."""
        for lo, hi in places.get(self.to, ()):
            found = leads_back(self.row, lo, hi)
            if found is not None:
                yield found


def wanted_relations(support: bool) -> tuple[Relation, ...]:
    """The relations that are followed."""
    return ("explains", "supports") if support else ("explains", "trigger")


def name_in_record(run: RunGraph, no: int) -> str:
    """What a record calls a log or stream: ``log:NAME``, or the stream's name."""
    found = run.by_no[no]
    return LOG_PREFIX + found.name if isinstance(found, StoredLog) else found.name


def spans_of(
    connection: Connection, run: RunGraph, places: Places, *, support: bool, every: bool = False
) -> list[Span]:
    """The spans that contain one of these places, as far as their relation is wanted.

    Whatever lies between the first and the last place of a stream is read, in one go. Only the
    first option of a choice leads on, unless ``every`` one is wanted.
    """
    bounds: dict[bool, list[list[int]]] = {True: [], False: []}
    for no, ranges in places.items():
        stream = run.by_no.get(no)
        if isinstance(stream, StoredStream) and ranges:
            bounds[stream.role.is_heads].append([no, ranges[0][0], ranges[-1][1]])
    found: list[Span] = []
    if bounds[False]:
        rows = connection.read(cypher("spans_up"), bounds=bounds[False])
        found += _bands(run, rows, support=support, every=every)
    if bounds[True]:
        pages = connection.read_values(cypher("heads_up"), bounds=bounds[True], page=run.chunk)
        found += _heads(run, pages)
    return [
        span
        for span in found
        if any(
            meeting(
                places[span.no],
                span.row.lo,
                LAST_POSITION if span.row.hi is None else span.row.hi,
            )
        )
    ]


def bands_to(
    connection: Connection, run: RunGraph, nos: Iterable[int], *, support: bool, every: bool = False
) -> list[Span]:
    """The spans of this run with bands to these logs and streams."""
    rows = connection.read(cypher("bands_down"), nos=list(nos))
    return list(_bands(run, rows, support=support, every=every))


def _heads(run: RunGraph, pages: list[list[Any]]) -> Iterator[Span]:
    """Each leads to the event that is the head, whatever is asked."""
    for no, _, los, his, keys in pages:
        name = name_in_record(run, no)
        for lo, hi, key in zip(los, his, keys, strict=True):
            to = no_of(key)
            end = None if hi < 0 else hi
            inner = name_in_record(run, to)
            position = (position_of(key),)
            yield Span(no, to, Association(name, "explains", "zone", lo, end, inner, position))


def _bands(
    run: RunGraph, rows: list[dict[str, Any]], *, support: bool, every: bool
) -> Iterator[Span]:
    wanted = wanted_relations(support)
    for row in rows:
        if row["no"] not in run.by_no:
            continue  # another run reads the same log
        if not every and row["witness"] is not None and 0 not in row["witness"]:
            continue
        relation = relation_of(row["type"], row["trigger"])
        if relation in wanted:
            yield Span(row["no"], row["to"], _band(run, row, relation))


def relation_of(type: str, trigger: bool | None) -> Relation:
    """The record's word for a relationship."""
    if type == "wasInfluencedBy":
        return "supports"
    return "trigger" if trigger else "explains"


def _band(run: RunGraph, row: dict[str, Any], relation: Relation) -> Association:
    return Association(
        name_in_record(run, row["no"]),
        relation,
        "band",
        row["lo"],
        row["hi"],
        name_in_record(run, row["to"]),
        a=row["a"],
        b=row["b"],
        sa=row["sa"],
        sb=row["sb"],
        fields=None if row["fields"] is None else tuple(row["fields"]),
        copy=bool(row["copy"]),
        witness=None if row["witness"] is None else tuple(row["witness"]),
    )


def leads_back(row: Association, lo: int, hi: int) -> Range | None:
    """The outputs of a band, or zone, that lead to one of the positions lo..hi.

    >>> window = Association("w", "explains", "band", 0, 9, "log:log", a=0, b=2, sa=1, sb=1)
    >>> leads_back(window, 4, 4)
    (2, 4)
    """
    if row.kind == "zone":
        met = any(lo <= position <= hi for position in row.inputs)
        return (row.lo, LAST_POSITION if row.hi is None else row.hi) if met else None
    first, last = row.lo, LAST_POSITION if row.hi is None else row.hi
    # Three conditions, each linear in the output o: its band begins at hi or before, ends at lo or
    # after, and is not empty.
    for slope, constant in (
        (-row.sa, hi - row.a),
        (row.sb, row.b - lo),
        (row.sb - row.sa, row.b - row.a),
    ):
        if slope == 0:
            if constant < 0:
                return None
        elif slope > 0:
            first = max(first, -(constant // slope))
        else:
            last = min(last, constant // -slope)
    return (first, last) if first <= last else None


def gathered(pieces: Iterable[tuple[int, Range]]) -> Places:
    """Ranges with their numbers, as places."""
    by_no: dict[int, list[Range]] = {}
    for no, piece in pieces:
        by_no.setdefault(no, []).append(piece)
    return {no: joined(ranges) for no, ranges in by_no.items()}
