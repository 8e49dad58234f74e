"""A log that is still being written: what arrives is taken batch by batch, in one order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from whence.engine.errors import LogError, WhenceError
from whence.engine.language.log import Log
from whence.engine.sources.source import MOST_SHOWN, BadCell, Report, Source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = [
    "Nap",
    "StoppedError",
    "Stream",
    "added",
    "check_declared",
    "counted",
    "recounted",
    "wait_for",
]

Nap = Callable[[], bool]
"""Waits a moment; returns whether to continue waiting."""


class StoppedError(WhenceError):
    """A stream that was stopped before its first event."""


class Stream(Protocol):
    """Where events come from, and in which order.

    Attributes:
        origin: what identifies it: a folder, or a topic and its partition.
        declared: what is stated of the log.
        report: rows read and dropped so far.
    """

    @property
    def origin(self) -> str: ...
    @property
    def declared(self) -> Log: ...
    @property
    def report(self) -> Report: ...

    def learn(self, nap: Nap | None) -> Source:
        """Look at what has arrived to learn the columns; wait for the first, if there is a nap.

        Raises:
            LogError: nothing has arrived and there is no waiting, or it cannot be read as declared.
            StoppedError: nothing had arrived when it was stopped.
        """
        ...

    def remember(self) -> dict[str, Any]:
        """What was learned, in plain values; the columns are stored with the log."""
        ...

    def recall(self, told: Mapping[str, Any], columns: Mapping[str, str]) -> None:
        """Resume with what was learned before."""
        ...

    def frame(self, session: SparkSession) -> DataFrame:
        """What Spark is to follow."""
        ...

    def rows(self, frame: DataFrame) -> Iterator[pa.RecordBatch]:
        """The rows of one of Spark's batches, in order: row number, then the columns."""
        ...

    def lag(self) -> str:
        """How much has arrived and waits, for people."""
        ...

    def save(self) -> dict[str, Any]:
        """How far it has come, in plain values."""
        ...

    def load(self, state: Mapping[str, Any]) -> None:
        """Resume from what `save` returned."""
        ...


def check_declared(origin: str, declared: Log) -> None:
    """Refuse an order that needs the whole log.

    Raises:
        LogError: another order than that of arrival is requested.
    """
    if declared.order not in (None, "file"):
        msg = (
            f"{origin}: expected the order of arrival, as the end of a stream is not known; "
            f"got {declared.order!r} to order by; try --order file, or --log when it is complete"
        )
        raise LogError(msg)


def wait_for(origin: str, what: str, nap: Nap | None, there: Callable[[], bool]) -> None:
    """Wait until something is there.

    Raises:
        LogError: it is not, and there is no waiting.
        StoppedError: it was not when the wait was over.
    """
    while not there():
        if nap is None:
            msg = f"{origin}: expected {what}; got none; try again when there is some"
            raise LogError(msg)
        if not nap():
            msg = f"{origin}: expected {what}; got none before it was stopped; try it again"
            raise StoppedError(msg)


def added(report: Report, more: Report) -> None:
    """Count what was read of the next piece as well."""
    report.read += more.read
    report.dropped += more.dropped
    report.missing += more.missing
    report.bad.extend(more.bad[: MOST_SHOWN - len(report.bad)])


def counted(report: Report) -> dict[str, Any]:
    """A report in plain values, to resume from."""
    return asdict(report)


def recounted(report: Report, state: Mapping[str, Any]) -> None:
    """Resume from what `counted` returned."""
    report.begin()
    report.read, report.dropped = state["read"], state["dropped"]
    report.missing = state["missing"]
    report.bad.extend(BadCell(**each) for each in state["bad"])
