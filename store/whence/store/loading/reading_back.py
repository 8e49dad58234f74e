"""Read a chunk back from the graph: how much it is, and its digest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from whence.store.connection import Connection
from whence.store.cypher import cypher
from whence.store.loading.digest import ChunkDigest
from whence.store.places import Range, no_of, position_of

__all__ = ["SeenChunk", "pages", "read_chunk"]

PAGE = 5000
"""Events a query: what they lead to has to fit into memory."""


@dataclass
class SeenChunk:
    """What the graph holds of a chunk.

    Attributes:
        events: how many events.
        edges: how many relationships leave them.
        bands: how many spans, by the number of their stream.
        merged: how many events of logs that it needs.
        digest: of all of it.
    """

    events: int = 0
    edges: int = 0
    bands: Counter[int] = field(default_factory=Counter)
    merged: int = 0
    digest: str = ""

    def add(self, other: SeenChunk) -> None:
        """Add what another chunk holds; the digest stays."""
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
    for some in _some(keys):
        found = connection.read(cypher("check_keys"), keys=some)[0]["keys"]
        seen.events += len(found)
        told.events(found)
        seen.edges += _edges(connection, "check_edges_of", told, keys=some)
        places = [[no_of(key), position_of(key)] for key in some]
        _bands(seen, told, connection.read(cypher("check_bands_at"), places=places))
    for some in _some(merged):
        found = connection.read(cypher("check_keys"), keys=some)[0]["keys"]
        seen.merged += len(found)
        told.events(found)
    for first, last in owns:
        for keys in pages(connection, first, last):
            seen.events += len(keys)
            told.events(keys)
            ends = {"first": keys[0], "last": keys[-1]}
            seen.edges += _edges(connection, "check_edges", told, **ends)
        seen.edges += _edges(connection, "check_ends", told, first=first, last=last)
        stretch = {"no": no_of(first), "first": position_of(first), "last": position_of(last)}
        _bands(seen, told, connection.read(cypher("check_bands"), **stretch))
    seen.digest = told.text()
    return seen


def _bands(seen: SeenChunk, told: ChunkDigest, rows: Sequence[Mapping[str, Any]]) -> None:
    for row in rows:
        seen.bands[row["no"]] += 1
        if row["type"]:
            seen.edges += 1
            properties = dict(row["properties"])
            band = [properties.pop(name, 0) for name in ("a", "b", "sa", "sb")]
            place = [row["no"], row["lo"], row["hi"], row["to"]]
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


def _edges(connection: Connection, query: str, told: ChunkDigest, **which: Any) -> int:
    many = 0
    for row in connection.read(cypher(query), **which):
        told.edges(row["type"], row["properties"], row["sources"], row["targets"])
        many += len(row["sources"])
    return many
