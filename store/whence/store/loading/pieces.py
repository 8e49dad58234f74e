"""Cut what a chunk writes into pieces, where it would be too much for one transaction.

A piece is a chunk of its own: what it holds and its marker are written together, so that whoever is
interrupted between pieces goes on with the next one. An event comes with all that it leads to, and
after it: whatever is in the graph can be explained.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any

from whence.store.loading.content import ChunkContent, Row
from whence.store.places import key_of, no_of

__all__ = ["MERGED_AT_ONCE", "RECORDS_AT_ONCE", "before", "with_ids", "without_piece"]

MERGED_AT_ONCE = 20_000
"""Inputs of selected outputs a transaction: they are merged, which takes longer."""

RECORDS_AT_ONCE = 65_536
"""Events and relationships a transaction: as many as a part of a log has events."""

INPUTS_AT_ONCE = 8_192
"""Events of a log a transaction: they lead nowhere, and are cut anywhere."""

_OWN = ("choices", "inner", "events")
_EDGES = ("derived", "influenced")
_SPANS = ("derived_spans", "influenced_spans")


def with_ids(id: str, content: ChunkContent) -> Iterator[tuple[str, ChunkContent]]:
    """What is written for a chunk, in this order; the last piece has the id of the whole."""
    for number, some in enumerate(before(content)):
        yield f"{id}/inputs/{number}", some
    *earlier, last = _cut(content)
    for number, some in enumerate(earlier):
        yield f"{id}/pieces/{number}", some
    yield id, last


def without_piece(id: str) -> str:
    """The id of the chunk that a piece belongs to."""
    return id.partition("/inputs/")[0].partition("/pieces/")[0]


def before(content: ChunkContent) -> Iterator[ChunkContent]:
    """The events of logs that are merged, but for the last of them; they are taken out."""
    for kind, rows in content.merged.items():
        while len(rows) > MERGED_AT_ONCE:
            some, rows = rows[:MERGED_AT_ONCE], rows[MERGED_AT_ONCE:]
            yield ChunkContent(selected=True, merged={kind: some})
        content.merged[kind] = rows


def _cut(content: ChunkContent) -> list[ChunkContent]:
    """A chunk in pieces that fit; in one where it fits, or where everything leads to all else."""
    if content.label == "inputs":
        most = min(INPUTS_AT_ONCE, RECORDS_AT_ONCE)
        starts = range(0, max(len(content.events), 1), most)
        return [ChunkContent("inputs", content.events[at : at + most]) for at in starts]
    if len(content.keys) + content.edges + len(content.heads) <= RECORDS_AT_ONCE:
        return [content]
    own = _in_order(content)
    if own is None:
        return [content]
    places = {row["key"]: at for at, (_, row) in enumerate(own)}
    leads, rest = _leading(content, places)
    numbers = {no_of(key) for key in places}
    if any(name in _SPANS and row["span"]["no"] in numbers for name, row in rest):
        return [content]
    pieces = [_empty(content)]
    room, ahead = RECORDS_AT_ONCE, -1
    for at, (name, row) in enumerate(own):
        held = leads.get(at, ())
        weight = 1 + sum(_weight(each) for _, each in held)
        if weight > room and room < RECORDS_AT_ONCE and ahead < at:
            pieces.append(_empty(content))
            room = RECORDS_AT_ONCE
        room -= weight
        getattr(pieces[-1], name).append(row)
        for to, each in held:
            getattr(pieces[-1], to).append(each)
            ahead = max(ahead, *(places.get(key, -1) for key in _targets(each)), -1)
    pieces[0].merged = content.merged
    for name, each in rest:
        if room <= 0 and name == "heads":
            pieces.append(_empty(content))
            room = RECORDS_AT_ONCE
        room -= _weight(each)
        getattr(pieces[-1], name).append(each)
    for piece in pieces:
        piece.sort()
    return pieces


def _empty(content: ChunkContent) -> ChunkContent:
    return ChunkContent(content.label, selected=content.selected)


def _in_order(content: ChunkContent) -> list[tuple[str, Row]] | None:
    """A chunk's own events, streams that are led to first; none if they lead around."""
    own = [(name, row) for name in _OWN for row in getattr(content, name)]
    numbers = {no_of(row["key"]) for _, row in own}
    led: dict[int, set[int]] = {no: set() for no in numbers}
    if len(numbers) > 1:
        for name in _EDGES:
            for row in getattr(content, name):
                source = no_of(row["key"])
                if source in numbers:
                    led[source].update({no_of(key) for key in row["to"]} & numbers - {source})
    try:
        rank = {no: at for at, no in enumerate(TopologicalSorter(led).static_order())}
    except CycleError:
        return None
    own.sort(key=lambda each: (rank[no_of(each[1]["key"])], each[1]["key"]))
    return own


def _leading(
    content: ChunkContent, places: Mapping[int, int]
) -> tuple[dict[int, list[tuple[str, Row]]], list[tuple[str, Row]]]:
    """The edges and spans that begin at each of the own events, by its place; and all others."""
    found: dict[int, list[tuple[str, Row]]] = {}
    rest: list[tuple[str, Row]] = []

    def add(name: str, key: int, row: Row) -> None:
        at = places.get(key)
        (rest if at is None else found.setdefault(at, [])).append((name, row))

    for name in _EDGES:
        for row in getattr(content, name):
            add(name, row["key"], row)
    for name in _SPANS:
        for row in getattr(content, name):
            add(name, key_of(row["span"]["no"], row["span"]["lo"]), row)
    for name in ("end", "heads"):
        rest += [(name, row) for row in getattr(content, name)]
    return found, rest


def _targets(row: Row) -> Sequence[int]:
    to: Any = row.get("to", ())
    return to if isinstance(to, (list, range)) else ()


def _weight(row: Row) -> int:
    return max(1, len(_targets(row)))
