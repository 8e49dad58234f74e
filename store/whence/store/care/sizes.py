"""How large the graph and the record are, run by run and log by log."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from whence.engine.lineage.positions import Ints, Positions, Range
from whence.engine.record import record_place
from whence.engine.record.folders import log_folder, run_folder
from whence.store.care.contents import Marker, contents
from whence.store.connection import Connection
from whence.store.cypher import cypher
from whence.store.places import LAST_POSITION, key_of, no_of
from whence.store.server.serving import local_store

__all__ = ["Share", "StoreSizes", "stats"]

NODE_BYTES, EDGE_BYTES = 110, 34
"""What an event with its key and its place in the index takes, and a relationship; measured."""


@dataclass(frozen=True)
class Share:
    """What belongs to one run, or to one log.

    Attributes:
        kind: run or log.
        id: its id.
        runs: which runs use the log; of a run only itself.
        nodes: event and span nodes.
        edges: relationships between them.
        graph_bytes: what they take in the graph, about.
        record_bytes: what the record holds of it; ``None`` if there is no record of it here.
    """

    kind: str
    id: str
    runs: tuple[str, ...]
    nodes: int
    edges: int
    graph_bytes: int
    record_bytes: int | None


@dataclass(frozen=True)
class StoreSizes:
    """The whole and its shares.

    Attributes:
        nodes: all nodes of the database.
        edges: all its relationships.
        store_bytes: its files, without transaction logs; ``None`` if the server is elsewhere.
        transaction_bytes: its transaction logs; ``None`` if the server is elsewhere.
        shares: of each run and each log, the oldest first.
    """

    nodes: int
    edges: int
    store_bytes: int | None
    transaction_bytes: int | None
    shares: tuple[Share, ...]


def stats(connection: Connection, record: Path | None = None) -> StoreSizes:
    """Say how large everything is; counted from the markers, so that it takes no time.

    Where the files can be seen they are shared out by what each run and log has of them; else
    bytes are reckoned from the counts.

    Args:
        connection: where the graph is.
        record: the record's place, if it is not where records usually are.
    """
    held = contents(connection)
    (whole,) = connection.read(cypher("store_counts"))
    place = local_store(connection.settings)
    size = None if place is None else folder_bytes(place[0])
    reckoned = NODE_BYTES * whole["nodes"] + EDGE_BYTES * whole["edges"]
    scale = 1.0 if size is None or not reckoned else size / reckoned
    root = record_place(record)

    singly = held.singly()
    ranges = held.owned()

    def share(kind: str, id: str, runs: tuple[str, ...], folder: Path) -> Share:
        nodes, edges = _counted(held.of(kind, id))
        if kind == "log":
            nodes += _alone(singly, ranges, held.logs[id]["no"])
        about = round(scale * (NODE_BYTES * nodes + EDGE_BYTES * edges))
        kept = folder_bytes(folder) if folder.is_dir() else None
        return Share(kind, id, runs, nodes, edges, about, kept)

    return StoreSizes(
        whole["nodes"],
        whole["edges"],
        size,
        None if place is None else folder_bytes(place[1]),
        (
            *(share("run", id, (id,), run_folder(root, id)) for id in held.runs),
            *(
                share("log", id, tuple(sorted(log["users"])), log_folder(root, id))
                for id, log in held.logs.items()
            ),
        ),
    )


def _alone(singly: Ints, ranges: Sequence[Range], no: int) -> int:
    """How many events of a log are there only because selected outputs need them."""
    own = singly[(singly >= key_of(no, 0)) & (singly <= key_of(no, LAST_POSITION))]
    inside = [pair for pair in ranges if no_of(pair[0]) == no]
    lo, hi = np.asarray(inside, np.int64).reshape(-1, 2).T
    return int((~Positions.joined(lo, hi).contains(own)).sum())


def folder_bytes(folder: Path) -> int:
    """The size of all files in a folder; one that goes meanwhile counts nothing."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(place) / name).stat().st_size
            except OSError:
                continue
    return total


def _counted(markers: Iterable[Marker]) -> tuple[int, int]:
    nodes = edges = 0
    for marker in markers:
        nodes += marker.events + marker.spans - marker.heads
        edges += marker.edges
    return nodes, edges
