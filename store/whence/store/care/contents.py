"""What the graph holds by its own account: runs, logs, streams, and the markers of chunks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from whence.engine.lineage.positions import Ints, Range
from whence.store.connection import Connection
from whence.store.cypher import cypher
from whence.store.loading.numbers import COUNTERS
from whence.store.places import no_of

__all__ = ["Contents", "Marker", "StoredRun", "contents"]


@dataclass(frozen=True)
class Marker:
    """The marker of a chunk.

    Attributes:
        id: ``log/ID/3``, ``run/ID/total/0``.
        events: how many events it wrote, choices included.
        spans: how many spans, heads included.
        heads: how many heads it began or ended.
        edges: how many relationships.
        digest: of the keys and edges.
        owns: first and last key of each range that is its own.
        selected: whether its events stand apart, and are named one by one.
        keys: then those of its own events.
        merged: those of the logs' events that it needs.
    """

    id: str
    events: int
    spans: int
    heads: int
    edges: int
    digest: str
    owns: tuple[Range, ...]
    selected: bool = False
    keys: tuple[int, ...] = ()
    merged: tuple[int, ...] = ()

    @property
    def owner(self) -> tuple[str, str]:
        """Whether it belongs to a log or to a run, and to which."""
        kind, _, rest = self.id.partition("/")
        return kind, rest.partition("/")[0]


@dataclass(frozen=True)
class StoredRun:
    """A run in the graph, and what belongs to it alone.

    Attributes:
        id: its id.
        status: how it stands.
        loaded: whether it says that all of it is there.
        started: when it began.
        ended: when it ended; ``None`` while it goes on.
        streams: its streams' names, by number.
        logs: the ids of what it read.
        selected: whether only its tracked outputs are there, with what they need.
    """

    id: str
    status: str
    loaded: bool
    started: str
    ended: str | None
    streams: Mapping[int, str]
    logs: tuple[str, ...]
    selected: bool = False


@dataclass(frozen=True)
class Contents:
    """What a graph says it holds.

    Attributes:
        runs: by id, the oldest first.
        collections: logs and streams as the graph has them.
        markers: of all chunks.
        last_numbers: the last number that each counter has given.
        ends: the numbers of the ends of pipes.
    """

    runs: Mapping[str, StoredRun]
    collections: tuple[Mapping[str, Any], ...]
    markers: tuple[Marker, ...]
    last_numbers: Mapping[str, int]
    ends: frozenset[int]

    @cached_property
    def logs(self) -> dict[str, Mapping[str, Any]]:
        """The logs by their ids."""
        return {each["id"]: each for each in self.collections if each["log"]}

    @cached_property
    def numbers(self) -> frozenset[int]:
        """Every number that a log, a stream or an end of a pipe has."""
        return frozenset(each["no"] for each in self.collections) | self.ends

    def readers(self, run: str) -> set[str]:
        """The runs that read a stream of this run."""
        return {user for c in self.collections if run in c["makers"] for user in c["users"]}

    def of(self, kind: str, owner: str) -> Iterator[Marker]:
        """The markers of a log or of a run."""
        return (marker for marker in self.markers if marker.owner == (kind, owner))

    def owned(self) -> list[Range]:
        """Every range of keys that some chunk owns, in order; those that touch are one."""
        joined: list[Range] = []
        whole = (marker for marker in self.markers if not marker.selected)
        for first, last in sorted(pair for marker in whole for pair in marker.owns):
            if joined and first == joined[-1][1] + 1 and no_of(first) == no_of(joined[-1][0]):
                joined[-1] = (joined[-1][0], last)
            else:
                joined.append((first, last))
        return joined

    def singly(self) -> Ints:
        """Every key that some chunk names on its own, in order."""
        named = (key for m in self.markers for key in (*m.keys, *m.merged))
        return np.unique(np.fromiter(named, np.int64))


def contents(connection: Connection) -> Contents:
    """Read what a graph says it holds."""
    collections = tuple(connection.read(cypher("collections_read")))
    counter = {name: connection.read(cypher("counter_read"), counter=name) for name in COUNTERS}
    rows = connection.read(cypher("runs_read"))
    return Contents(
        {row["id"]: _run(row, collections) for row in rows},
        collections,
        tuple(_marker(row) for row in connection.read(cypher("chunks_read"), prefix="")),
        {name: rows[0]["last"] for name, rows in counter.items() if rows},
        frozenset(no for row in rows for no in row["ends"]),
    )


def _run(row: Mapping[str, Any], collections: tuple[Mapping[str, Any], ...]) -> StoredRun:
    id = row["id"]
    return StoredRun(
        id,
        row["status"],
        row["loaded"],
        row["started"],
        row["ended"],
        {each["no"]: each["name"] for each in collections if id in each["makers"]},
        tuple(each["id"] for each in collections if id in each["users"]),
        bool(row["selected"]),
    )


def _marker(row: Mapping[str, Any]) -> Marker:
    owns = row["owns"] or ()
    pairs = tuple(zip(owns[::2], owns[1::2], strict=True))
    events, spans, heads, edges = (row[n] or 0 for n in ("events", "spans", "heads", "edges"))
    counts = (events, spans, heads, edges)
    singly = (row["selected"], tuple(row["keys"] or ()), tuple(row["merged"] or ()))
    return Marker(row["id"], *counts, row["digest"], pairs, *singly)
