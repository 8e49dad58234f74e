"""Keep how many outputs each input explains, when all of a run is in the graph.

Counted once, from the record, so that whoever asks later reads numbers instead of walking from
every input. A block of input events is a node, its counts a list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whence.engine.record import RunRecord
from whence.engine.record.contributions import contributions
from whence.store.catalog import RunGraph, StoredLog, find_run
from whence.store.connection import Connection, run_cypher
from whence.store.cypher import cypher

if TYPE_CHECKING:
    from neo4j import ManagedTransaction

__all__ = ["BLOCK", "LARGEST", "block_ids", "keep_contributions"]

BLOCK = 4096
"""Input events a node; so many numbers in a list are read about as fast as one node is."""

LARGEST = 3_000_000
"""Events of streams up to which a run is counted: its associations are in memory for that."""


def block_ids(run: str, log: StoredLog) -> list[str]:
    """The ids of a log's blocks."""
    return [f"{run}/{log.no}/{number}" for number in range(-(-log.length // BLOCK))]


def keep_contributions(connection: Connection, record: RunRecord) -> None:
    """Count, unless that was done, and write all of it in one transaction.

    Args:
        connection: where the graph is.
        record: a run all of which is in the graph.
    """
    graph = find_run(connection, record.id, record.root)
    manifest = record.manifest
    if graph.counted or not manifest["options"]["tracked"] or manifest["status"] != "complete":
        return
    if sum(stream["length"] for stream in manifest["streams"]) > LARGEST:
        return
    blocks = _blocks(graph, record)

    def work(transaction: ManagedTransaction) -> None:
        run_cypher(
            transaction, cypher("write_contributions"), {"run": record.id, "blocks": blocks}
        ).consume()

    connection.transact(work)


def _blocks(graph: RunGraph, record: RunRecord) -> list[dict[str, Any]]:
    totals = {graph.log_named(name).no: found for name, found in contributions(record).items()}
    blocks = []
    for log in graph.logs:
        for number, id in enumerate(block_ids(graph.id, log)):
            first = number * BLOCK
            counts = totals[log.no][first : first + BLOCK].tolist()
            blocks.append(
                {"id": id, "run": graph.id, "no": log.no, "first": first, "counts": counts}
            )
    return blocks
