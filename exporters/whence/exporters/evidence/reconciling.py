"""Counts that reconcile: every input event has exactly one reason to be where it is."""

from __future__ import annotations

from dataclasses import dataclass

from whence.engine.intervals import Intervals, count
from whence.engine.record import LogRecord
from whence.store import Connection
from whence.store.catalog import RunGraph
from whence.store.places import Places, difference, overlap
from whence.store.questions.whole import all_outputs, require_whole
from whence.store.verbs import ends, up

__all__ = ["Reconciled", "reconcile"]


@dataclass(frozen=True)
class Reconciled:
    """What became of the events of a log.

    Attributes:
        log: its name.
        count: how many events came in.
        explained: those that explain an output.
        support_only: of the others, those that an output leans on.
        open: of the others, those that the end of an output pipe leans on.
        never_matters: the rest: changing one of them changes nothing in this run.
        rejected: rows of the source that were left out before.
    """

    log: str
    count: int
    explained: int
    support_only: int
    open: int
    never_matters: int
    rejected: int


def reconcile(
    connection: Connection, run: RunGraph, logs: dict[str, LogRecord]
) -> tuple[Reconciled, ...]:
    """Count the events of each log; the four counts add up to how many there are.

    Args:
        connection: where the graph is.
        run: the run; it must be complete.
        logs: its logs as the record has them, by name.
    """
    require_whole(run)
    outputs = all_outputs(run)
    explaining = up(connection, run, outputs)
    supporting = up(connection, run, outputs, support=True)
    leaning = ends(connection, run, run.ends)
    found = []
    for log in run.logs:
        left: Intervals = ((0, log.length - 1),) if log.length else ()
        counts = []
        for places in (explaining, supporting, leaning):
            reached = overlap(left, _of(places, log.no))
            counts.append(count(reached))
            left = difference(left, reached)
        rejected = int(logs[log.name].manifest.get("report", {}).get("dropped", 0))
        found.append(
            Reconciled(log.name, log.length, counts[0], counts[1], counts[2], count(left), rejected)
        )
    return tuple(found)


def _of(places: Places, no: int) -> tuple[tuple[int, int], ...]:
    return places.get(no, ())
