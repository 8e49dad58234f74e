"""Write one chunk: everything and its marker in one transaction, or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whence.engine.errors import StoreError
from whence.store.connection import Connection, run_cypher
from whence.store.cypher import cypher
from whence.store.loading.content import ChunkContent

if TYPE_CHECKING:
    from neo4j import ManagedTransaction

__all__ = ["ROWS", "chunk_id", "loaded_chunks", "marker_of", "write_chunk"]

ROWS = 5000
"""Rows a statement: more take longer a row, fewer cost round trips."""

LITERAL = ("derived", "influenced", "end")
SPANS = ("derived_spans", "influenced_spans")


def chunk_id(kind: str, owner: str, part: int, stream: str | None = None) -> str:
    """The id of a chunk's marker: ``log/ID/3``, ``run/ID/total/0``."""
    middle = "" if stream is None else f"{stream}/"
    return f"{kind}/{owner}/{middle}{part}"


def loaded_chunks(connection: Connection, kind: str, owner: str) -> set[str]:
    """The ids of the chunks of a log or run that are in the graph."""
    return {row["id"] for row in connection.read(cypher("chunks_read"), prefix=f"{kind}/{owner}/")}


def marker_of(id: str, content: ChunkContent) -> dict[str, Any]:
    """The properties of a chunk's marker."""
    return {
        "id": id,
        "events": len(content.events) + len(content.choices),
        "spans": content.spans,
        "heads": len(content.heads),
        "edges": content.edges,
        "digest": content.digest(),
        "owns": content.owns,
    }


def write_chunk(connection: Connection, id: str, content: ChunkContent) -> bool:
    """Write a chunk; say whether it was not there yet.

    Raises:
        StoreError: something that an edge leads to is not in the graph; then nothing is written.
    """
    marker = marker_of(id, content)

    def work(transaction: ManagedTransaction) -> bool:
        def run(name: str, parameters: dict[str, Any]) -> Any:
            return run_cypher(transaction, cypher(name), parameters).single(strict=True)

        if not run("chunk_claim", marker)["fresh"]:
            return False

        def write(name: str, rows: list[dict[str, Any]], expected: int) -> None:
            written = sum(
                run(f"write_{name}", {"rows": rows[at : at + ROWS]})["written"]
                for at in range(0, len(rows), ROWS)
            )
            if written != expected:
                msg = (
                    f"the graph: expected to write {expected} of {name} for {id}; got {written}, "
                    "so nothing was written; try whence load again, or a record that is whole"
                )
                raise StoreError(msg)

        write(content.label, content.events, len(content.events))
        if content.choices:
            write("choices", content.choices, len(content.choices))
        for name in LITERAL:
            rows = getattr(content, name)
            write(name, rows, sum(len(row["to"]) for row in rows))
        for name in SPANS:
            rows = getattr(content, name)
            write(name, rows, len(rows))
        write("heads", content.heads, len(content.heads))
        return True

    return connection.transact(work)
