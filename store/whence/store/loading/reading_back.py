"""Read a chunk back from the graph: how much it is, and its digest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from whence.engine.lineage.positions import Range
from whence.store.connection import Connection
from whence.store.cypher import cypher
from whence.store.loading.digest import ChunkDigest
from whence.store.packed import Ints, Packing
from whence.store.places import no_of, position_of

__all__ = ["SeenChunk", "heads_in_graph", "in_order", "pages", "read_chunk"]

Both = tuple[ChunkDigest, Packing]

PAGE = 5000
"""Events a query: what they lead to has to fit into memory."""
OUTPUTS = 20_000
"""Outputs a query, of heads; each of them begins at most a few."""


@dataclass
class SeenChunk:
    """What the graph holds of a chunk.

    Attributes:
        events: how many events.
        edges: how many relationships leave them.
        bands: how many spans, by the number of their stream.
        merged: how many events of logs that it needs.
        digest: of all of it.
        packing: its edges and spans, to be packed.
    """

    events: int = 0
    edges: int = 0
    bands: Counter[int] = field(default_factory=Counter)
    merged: int = 0
    digest: str = ""
    packing: Packing = field(default_factory=Packing)

    def add(self, other: SeenChunk) -> None:
        """Add how much another chunk holds."""
        self.events += other.events
        self.edges += other.edges
        self.bands.update(other.bands)


def read_chunk(
    connection: Connection,
    owns: Sequence[Range],
    keys: Sequence[int] = (),
    merged: Sequence[int] = (),
) -> SeenChunk:
    """Read everything in these ranges of keys, as a marker tells of them.

    Args:
        connection: where the graph is.
        owns: the ranges.
        keys: of events that are its own one by one, if only selected outputs were loaded.
        merged: those of the logs' events that it needs.
    """
    seen, told = SeenChunk(), ChunkDigest()
    both = (told, seen.packing)
    for some in _some(keys):
        found = connection.read(cypher("check_keys"), keys=some)[0]["keys"]
        seen.events += len(found)
        told.events(found)
        seen.edges += _edges(connection, "check_edges_of", both, keys=some)
        places = [[no_of(key), position_of(key)] for key in some]
        _bands(seen, both, connection.read(cypher("check_bands_at"), places=places))
    for some in _some(merged):
        found = connection.read(cypher("check_keys"), keys=some)[0]["keys"]
        seen.merged += len(found)
        told.events(found)
    for first, last in owns:
        for keys in pages(connection, first, last):
            seen.events += len(keys)
            told.events(keys)
            ends = {"first": keys[0], "last": keys[-1]}
            seen.edges += _edges(connection, "check_edges", both, **ends)
        seen.edges += _edges(connection, "check_ends", both, first=first, last=last)
        stretch = {"no": no_of(first), "first": position_of(first), "last": position_of(last)}
        _bands(seen, both, connection.read(cypher("check_bands"), **stretch))
    seen.digest = told.text()
    return seen


def _bands(seen: SeenChunk, both: Both, rows: Sequence[Mapping[str, Any]]) -> None:
    for row in rows:
        seen.bands[row["no"]] += 1
        if row["type"]:
            seen.edges += 1
            properties = dict(row["properties"])
            band = [properties.pop(name, 0) for name in ("a", "b", "sa", "sb")]
            place = [row["no"], row["lo"], row["hi"], row["to"]]
            for told in both:
                told.bands(row["type"], properties, [[*place, *band]])


def _some(keys: Sequence[int]) -> Iterator[list[int]]:
    return (list(keys[at : at + PAGE]) for at in range(0, len(keys), PAGE))


def pages(connection: Connection, first: int, last: int) -> Iterator[list[int]]:
    """The keys of the events in a range, some thousand at a time."""
    while True:
        page = {"first": first, "last": last, "page": PAGE}
        keys: list[int] = connection.read(cypher("check_events"), **page)[0]["keys"]
        if keys:
            yield keys
        if len(keys) < PAGE:
            return
        first = keys[-1] + 1


def _edges(connection: Connection, query: str, both: Both, **which: Any) -> int:
    many = 0
    for row in connection.read(cypher(query), **which):
        for told in both:
            told.edges(row["type"], row["properties"], row["sources"], row["targets"])
        many += len(row["sources"])
    return many


def heads_in_graph(connection: Connection, no: int) -> Ints:
    """Every head of a stream of heads: its key, and from which output to which, in order."""
    (highest,) = connection.read(cypher("check_last_head"), no=no)
    found = [np.empty((0, 3), np.int64)]
    for first in range(0, (highest["last"] or 0) + 1, OUTPUTS):
        place = {"no": no, "first": first, "last": first + OUTPUTS - 1}
        (row,) = connection.read(cypher("check_heads"), **place)
        columns = (np.asarray(row[each], np.int64) for each in ("keys", "los", "his"))
        found.append(np.stack(list(columns), axis=1))
    return in_order(np.concatenate(found))


def in_order(rows: Ints) -> Ints:
    """Rows of numbers in order, the first column first."""
    return rows[np.lexsort(rows.T[::-1])]
