"""Keep how many outputs each input explains, when all of a run is in the graph.

Counted once, from the record, while the graph is being written, so that whoever asks later reads
numbers instead of walking from every input. A block of input events is a node, its counts a list.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from whence.engine.record import RunRecord
from whence.engine.record.contributions import contributions
from whence.store.catalog import find_run
from whence.store.connection import Connection, run_cypher
from whence.store.cypher import cypher

if TYPE_CHECKING:
    from neo4j import ManagedTransaction

__all__ = ["BLOCK", "LARGEST", "Counting", "block_ids", "keep_contributions", "lacks_contributions"]

BLOCK = 4096
"""Input events a node; so many numbers in a list are read about as fast as one node is."""

LARGEST = 3_000_000
"""Events of streams up to which a run is counted: its associations are in memory for that."""

LOOK = 1.0
"""Seconds from one word on how far counting has come to the next."""

Totals = Mapping[str, npt.NDArray[np.int64]]
"""Of every input event, by log and position, how many outputs it explains."""


class Counting:
    """Counts from a record while something else is done, and is waited for only by who asks."""

    def __init__(self, record: RunRecord) -> None:
        """Begin.

        Args:
            record: a run that is over.
        """
        self._record = record
        self._totals: Future[Totals] = Future()
        self._read = (0, 0)
        # A thread of a pool would be waited for at the end, whatever happened before.
        threading.Thread(target=self._count, name="whence-counting", daemon=True).start()

    def _count(self) -> None:
        try:
            self._totals.set_result(contributions(self._record, self._note))
        except BaseException as error:
            self._totals.set_exception(error)

    def _note(self, done: int, total: int) -> None:
        self._read = (done, total)

    def totals(self, tell: Callable[[int, int], None] = lambda done, total: None) -> Totals:
        """What was counted; waits until all of it is.

        Args:
            tell: called meanwhile with how many parts were counted, and how many there are.
        """
        tell(*self._read)
        while not wait([self._totals], LOOK).done:
            tell(*self._read)
        return self._totals.result()


def block_ids(run: str, no: int, length: int) -> list[str]:
    """The ids of the blocks of a log with so many events."""
    return [f"{run}/{no}/{number}" for number in range(-(-length // BLOCK))]


def lacks_contributions(connection: Connection, record: RunRecord) -> bool:
    """Whether the graph should know them and does not yet; of some runs it would be too much.

    Args:
        connection: where the graph is.
        record: a run in the graph's list of runs.
    """
    manifest = record.manifest
    if not manifest.options.tracked or not manifest.is_complete:
        return False
    if sum(stream.length for stream in manifest.streams) > LARGEST:
        return False
    return not find_run(connection, record.id, record.root).counted


def keep_contributions(connection: Connection, record: RunRecord, totals: Totals) -> None:
    """Write all that was counted in one transaction.

    Args:
        connection: where the graph is.
        record: a run all of which is in the graph.
        totals: what was counted of it.
    """
    graph = find_run(connection, record.id, record.root)
    blocks = []
    # As long as it is in the record: how much was added last, the graph is not told yet.
    for name, counted in totals.items():
        no = graph.log_named(name).no
        for number, id in enumerate(block_ids(graph.id, no, len(counted))):
            first = number * BLOCK
            counts = counted[first : first + BLOCK].tolist()
            blocks.append({"id": id, "run": graph.id, "no": no, "first": first, "counts": counts})
    parameters: dict[str, Any] = {"run": graph.id, "blocks": blocks}

    def work(transaction: ManagedTransaction) -> None:
        run_cypher(transaction, cypher("write_contributions"), parameters).consume()

    connection.transact(work)
