"""Counts that reconcile: every input event has exactly one reason to be where it is."""

from __future__ import annotations

from dataclasses import dataclass

from whence.engine.intervals import Intervals, count
from whence.engine.record import RunRecord
from whence.engine.record.reaching import Reaching
from whence.store.catalog import RunGraph
from whence.store.places import difference, joined, overlap
from whence.store.questions.whole import require_whole

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


def reconcile(run: RunGraph, record: RunRecord) -> tuple[Reconciled, ...]:
    """Count the events of each log; the four counts add up to how many there are.

    Args:
        run: the run as the graph knows it; it must be complete.
        record: the same as the record has it.
    """
    require_whole(run)
    reaching = Reaching(record)
    several = (reaching.explaining(), reaching.supporting(), reaching.open())
    found = []
    for log in run.logs:
        left: Intervals = ((0, log.length - 1),) if log.length else ()
        counts = []
        for reached in several:
            places = joined(each for name in log.names for each in reached.get(name, ()))
            here = overlap(left, places)
            counts.append(count(here))
            left = difference(left, here)
        rejected = int(record.log(log.name).manifest.get("report", {}).get("dropped", 0))
        found.append(
            Reconciled(log.name, log.length, counts[0], counts[1], counts[2], count(left), rejected)
        )
    return tuple(found)
