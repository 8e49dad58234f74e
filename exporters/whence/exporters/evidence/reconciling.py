"""Counts that reconcile: every input event has exactly one reason to be where it is.

To count them every association of the run is read. So the counts are kept beside the run's leaves,
with a digest of the parts that they were taken from.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from whence.engine.lineage.positions import Intervals, count, joined, minus, overlap
from whence.engine.record import RunRecord
from whence.engine.record.files import whole_file
from whence.engine.record.reaching import Reaching
from whence.store.catalog import RunGraph
from whence.store.questions.whole import require_whole

__all__ = ["Reconciled", "reconcile"]


KEPT = "reconciled.json"


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
    file, of = record.folder / "leaves" / KEPT, _parts_of(run, record)
    found = _kept(file, of)
    if found is None:
        found = _counted(run, record)
        file.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"of": of, "logs": [asdict(each) for each in found]})
        whole_file(file, lambda beside: _write(beside, text))
    return found


def _parts_of(run: RunGraph, record: RunRecord) -> str:
    """A digest of the record's list of parts; the counts are of these and no others."""
    logs = [[log.id, *log.names, log.length, _rejected(record, log.name)] for log in run.logs]
    told = json.dumps([[s.json() for s in record.manifest.streams], logs], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()


def _kept(file: Path, of: str) -> tuple[Reconciled, ...] | None:
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
        return tuple(Reconciled(**each) for each in told["logs"]) if told["of"] == of else None
    except (OSError, ValueError, TypeError, KeyError):
        return None  # there is none, or it is of no use


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _rejected(record: RunRecord, log: str) -> int:
    """Rows of the source that were left out before."""
    return int(record.log(log).manifest.report.get("dropped", 0))


def _counted(run: RunGraph, record: RunRecord) -> tuple[Reconciled, ...]:
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
            left = minus(left, here)
        explained, support_only, opened = counts
        rejected, never = _rejected(record, log.name), count(left)
        found.append(
            Reconciled(log.name, log.length, explained, support_only, opened, never, rejected)
        )
    return tuple(found)
