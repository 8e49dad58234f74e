"""Read a chunk back from the graph: how much it is, and its digest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

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
        digest: of all of it.
    """

    events: int = 0
    edges: int = 0
    bands: Counter[int] = field(default_factory=Counter)
    digest: str = ""

    def add(self, other: SeenChunk) -> None:
        """Add what another chunk holds; the digest stays."""
        self.events += other.events
        self.edges += other.edges
        self.bands.update(other.bands)


def read_chunk(connection: Connection, owns: Sequence[Range]) -> SeenChunk:
    """Read everything in these ranges of keys, as a marker tells of them."""
    seen, told = SeenChunk(), ChunkDigest()
    for first, last in owns:
        for keys in pages(connection, first, last):
            seen.events += len(keys)
            told.events(keys)
            seen.edges += _edges(connection, "check_edges", told, keys[0], keys[-1])
        seen.edges += _edges(connection, "check_ends", told, first, last)
        bands = connection.read(
            cypher("check_bands"),
            **{"no": no_of(first), "first": position_of(first), "last": position_of(last)},
        )
        seen.bands[no_of(first)] += len(bands)
        seen.edges += sum(1 for row in bands if row["type"])
        for row in bands:
            if row["type"]:
                properties = dict(row["properties"])
                band = [properties.pop(name, 0) for name in ("a", "b", "sa", "sb")]
                place = [row["no"], row["lo"], row["hi"], row["to"]]
                told.bands(row["type"], properties, [[*place, *band]])
    seen.digest = told.text()
    return seen


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


def _edges(connection: Connection, query: str, told: ChunkDigest, first: int, last: int) -> int:
    many = 0
    for row in connection.read(cypher(query), first=first, last=last):
        told.edges(row["type"], row["properties"], row["sources"], row["targets"])
        many += len(row["sources"])
    return many
