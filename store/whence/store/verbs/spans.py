"""Spans: outputs that share an association, read from the graph as rows and followed both ways."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from whence.engine.lineage.association import Association, Relation
from whence.engine.lineage.positions import Intervals, Range, joined, meeting
from whence.store.catalog import RunGraph, StoredStream
from whence.store.connection import Connection
from whence.store.cypher import cypher
from whence.store.places import LAST_POSITION, Places, no_of, position_of

__all__ = [
    "bands_to",
    "gathered",
    "leads_back",
    "reached_up",
    "relation_of",
    "spans_of",
    "wanted_relations",
]


def reached_up(rows: Iterable[Association], run: RunGraph, places: Places) -> Places:
    """Where some rows lead to from some of their outputs."""
    return gathered(
        (run.numbers[row.to], piece)
        for row in rows
        for lo, hi in _outputs_in(row, places.get(run.numbers[row.stream], ()))
        for piece in row.reaches(lo, hi)
    )


def _outputs_in(row: Association, ranges: Intervals) -> Iterator[Range]:
    """Which of the outputs of a row are among some; of a zone one of them is enough."""
    found = meeting(ranges, row.lo, LAST_POSITION if row.hi is None else row.hi)
    return islice(found, 1) if row.kind == "zone" else found


def wanted_relations(support: bool) -> tuple[Relation, ...]:
    """The relations that are followed."""
    return ("explains", "supports") if support else ("explains", "trigger")


def spans_of(
    connection: Connection, run: RunGraph, places: Places, *, support: bool, every: bool = False
) -> list[Association]:
    """The spans that contain one of these places, as far as their relation is wanted.

    Whatever lies between the first and the last place of a stream is read, in one go. Only the
    first option of a choice leads on, unless ``every`` one is wanted.
    """
    bounds: dict[bool, list[list[int]]] = {True: [], False: []}
    for no, ranges in places.items():
        stream = run.by_no.get(no)
        if isinstance(stream, StoredStream) and ranges:
            bounds[stream.role.is_heads].append([no, ranges[0][0], ranges[-1][1]])
    found: list[Association] = []
    if bounds[False]:
        rows = connection.read(cypher("spans_up"), bounds=bounds[False])
        found += _bands(run, rows, support=support, every=every)
    if bounds[True]:
        pages = connection.read_values(cypher("heads_up"), bounds=bounds[True], page=run.chunk)
        found += _heads(run, pages)
    return [row for row in found if any(_outputs_in(row, places[run.numbers[row.stream]]))]


def bands_to(
    connection: Connection, run: RunGraph, nos: Iterable[int], *, support: bool, every: bool = False
) -> list[Association]:
    """The spans of this run with bands to these logs and streams."""
    rows = connection.read(cypher("bands_down"), nos=list(nos))
    return list(_bands(run, rows, support=support, every=every))


def _heads(run: RunGraph, pages: list[list[Any]]) -> Iterator[Association]:
    """Each leads to the event that is the head, whatever is asked."""
    for no, _, los, his, keys in pages:
        name = run.name_in_record(no)
        for lo, hi, key in zip(los, his, keys, strict=True):
            to = no_of(key)
            end = None if hi < 0 else hi
            inner = run.name_in_record(to)
            position = (position_of(key),)
            yield Association(name, "explains", "zone", lo, end, inner, position)


def _bands(
    run: RunGraph, rows: list[dict[str, Any]], *, support: bool, every: bool
) -> Iterator[Association]:
    wanted = wanted_relations(support)
    for row in rows:
        if row["no"] not in run.by_no:
            continue  # another run reads the same log
        if not every and row["witness"] is not None and 0 not in row["witness"]:
            continue
        relation = relation_of(row["type"], row["trigger"])
        if relation in wanted:
            yield _band(run, row, relation)


def relation_of(type: str, trigger: bool | None) -> Relation:
    """The record's word for a relationship."""
    if type == "wasInfluencedBy":
        return "supports"
    return "trigger" if trigger else "explains"


def _band(run: RunGraph, row: dict[str, Any], relation: Relation) -> Association:
    return Association(
        run.name_in_record(row["no"]),
        relation,
        "band",
        row["lo"],
        row["hi"],
        run.name_in_record(row["to"]),
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
