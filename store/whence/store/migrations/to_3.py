"""From version 2 to 3: markers hold the edges of their chunk packed as well."""

from __future__ import annotations

from collections.abc import Collection

from whence.store.catalog import find_run
from whence.store.connection import Connection
from whence.store.cypher import cypher
from whence.store.loading.chunks import chunk_id
from whence.store.loading.reading_back import heads_in_graph, read_chunk
from whence.store.packed import Packing

__all__ = ["pack_chunks", "write_packed"]


def pack_chunks(connection: Connection) -> None:
    """Pack what the graph holds of every chunk that is not packed yet."""
    missing = {row["id"]: row["owns"] or [] for row in connection.read(cypher("packed_missing"))}
    packings: dict[str, Packing] = {}
    for run in connection.read(cypher("runs_read")):
        packings.update(_heads(connection, run["id"], missing))
    for id, owns in missing.items():
        packing = packings.get(id)
        if packing is None:
            ranges = list(zip(owns[::2], owns[1::2], strict=True))
            packing = read_chunk(connection, ranges).packing
        write_packed(connection, id, packing.packed())


def write_packed(connection: Connection, chunk: str, packed: tuple[bytes, list[int]]) -> None:
    """Give a marker the packed edges of its chunk, and their bounds."""
    connection.write(cypher("packed_write"), id=chunk, packed=packed[0], bounds=packed[1])


def _heads(connection: Connection, run: str, missing: Collection[str]) -> dict[str, Packing]:
    """The heads of a run, each with the chunk in which it begins.

    Loading tells of a head with the chunk that ends it once more; whoever reads them takes the end
    from wherever it is told.
    """
    graph = find_run(connection, run, as_it_is=True)
    found: dict[str, Packing] = {}
    for stream in graph.streams:
        if not stream.role.is_heads:
            continue
        rows: dict[int, list[list[int]]] = {}
        for key, lo, hi in heads_in_graph(connection, stream.no).tolist():
            rows.setdefault(lo // graph.chunk, []).append([key, stream.no, lo, hi])
        for part, some in rows.items():
            id = chunk_id("run", run, part, stream.name)
            if id not in missing:
                prefix = id.rpartition("/")[0]
                id = next((other for other in missing if other.startswith(prefix)), id)
            found.setdefault(id, Packing()).heads(some)
    return found
