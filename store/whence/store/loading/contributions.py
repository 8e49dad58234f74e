"""Keep how many outputs each input explains, when all of a run is in the graph.

Counted once, from the record, while the graph is being written, so that whoever asks later reads
numbers instead of walking from every input. A block of input events is a node, its counts a list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whence.engine.record import RunRecord
from whence.engine.record.contributions import contributions
from whence.store.catalog import RunGraph, find_run
from whence.store.connection import Connection, run_cypher
from whence.store.cypher import cypher

if TYPE_CHECKING:
    from neo4j import ManagedTransaction

__all__ = ["BLOCK", "LARGEST", "block_ids", "count", "keep_contributions"]

BLOCK = 4096
"""Input events a node; so many numbers in a list are read about as fast as one node is."""

LARGEST = 3_000_000
"""Events of streams up to which a run is counted: its associations are in memory for that."""

Blocks = list[dict[str, Any]]


def block_ids(run: str, no: int, length: int) -> list[str]:
    """The ids of the blocks of a log with so many events."""
    return [f"{run}/{no}/{number}" for number in range(-(-length // BLOCK))]


def count(connection: Connection, record: RunRecord) -> Blocks | None:
    """Count, unless that was done or is too much.

    Args:
        connection: where the graph is.
        record: a run that is over and in the graph's list of runs.
    """
    graph = find_run(connection, record.id, record.root)
    manifest = record.manifest
    if graph.counted or not manifest["options"]["tracked"] or manifest["status"] != "complete":
        return None
    if sum(stream["length"] for stream in manifest["streams"]) > LARGEST:
        return None
    return _blocks(graph, record)


def keep_contributions(connection: Connection, run: str, blocks: Blocks | None) -> None:
    """Write all that was counted in one transaction.

    Args:
        connection: where the graph is.
        run: the id of a run all of which is in the graph.
        blocks: what was counted of it, if anything was.
    """
    if blocks is None:
        return

    def work(transaction: ManagedTransaction) -> None:
        run_cypher(
            transaction, cypher("write_contributions"), {"run": run, "blocks": blocks}
        ).consume()

    connection.transact(work)


def _blocks(graph: RunGraph, record: RunRecord) -> Blocks:
    blocks = []
    # As long as it is in the record: how much was added last, the graph is not told yet.
    for name, totals in contributions(record).items():
        no = graph.log_named(name).no
        for number, id in enumerate(block_ids(graph.id, no, len(totals))):
            first = number * BLOCK
            counts = totals[first : first + BLOCK].tolist()
            blocks.append({"id": id, "run": graph.id, "no": no, "first": first, "counts": counts})
    return blocks
