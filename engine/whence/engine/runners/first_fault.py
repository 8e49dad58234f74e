"""Of several events that a chain refuses, the first one is named, whichever processor refuses it.

A kernel takes a whole batch before the next one does. So of two events in a batch the later one is
refused first, if the processor that refuses it comes earlier in the chain. The batch is tried
again in shorter pieces, which costs time only when a run fails anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from whence.engine.errors import EventError
from whence.engine.kernels.columns.column import Column
from whence.engine.kernels.columns.texts import Texts
from whence.engine.kernels.work import KernelWork

__all__ = ["Columns", "feed_dropping", "first_fault"]

Columns = Mapping[str, Column]


def first_fault(
    error: EventError, start: Callable[[], KernelWork], batch: Callable[[Texts], Columns]
) -> EventError:
    """The error of the first bad event of a batch, and of the first processor that refuses it.

    Args:
        error: what the batch as a whole was refused with.
        start: makes the chain at work as it was before the batch, any number of times.
        batch: the events of the batch by log, with numbers for their texts.
    """
    good, bad = 0, 0
    while True:
        work = start()
        columns = batch(work.run.texts)
        bad = bad or max((len(column) for column in columns.values()), default=0) + 1
        if good + 1 >= bad:
            break
        middle = (good + bad) // 2
        try:
            work.feed(_rows(columns, 0, middle))
        except EventError:
            bad = middle
        else:
            good = middle
    # All rows before `good` are taken; the one after them is refused: by which log's event first?
    try:
        work.feed(_rows(columns, 0, good))
        for name, column in columns.items():
            work.feed({name: column.slice(min(good, len(column)), min(good + 1, len(column)))})
    except EventError as first:
        return first
    return error


def _rows(columns: Columns, first: int, stop: int) -> dict[str, Column]:
    return {
        name: column.slice(min(first, len(column)), min(stop, len(column)))
        for name, column in columns.items()
    }


def feed_dropping(work: KernelWork, batches: Iterator[Columns]) -> KernelWork:
    """Let a chain take batches, and drop what it gives."""
    for columns in batches:
        work.feed(columns)
        for kept in work.run.kept.values():
            kept.parts = []
    return work
