"""A stream on its way: what is done with each of Spark's batches, and how far it has come."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from whence.engine.errors import EventError, LogError, RunnerError, WhenceError
from whence.engine.interpreter.pending import Pending
from whence.engine.kernels.columns.column import Column
from whence.engine.kernels.columns.texts import Texts
from whence.engine.kernels.work import KernelWork
from whence.engine.record.growing import GrowingLog
from whence.engine.runners.first_fault import first_fault
from whence.engine.runners.kernel_parts import KernelParts
from whence.engine.runners.local_kernels import BATCH
from whence.engine.runners.log_batches import column_of
from whence.engine.runners.stream.commits import Commits, Reached
from whence.engine.runners.write_behind import WriterBehind
from whence.engine.sources.stream import Stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Following", "StreamProgress", "Tell"]

_TELL_SECONDS = 1.0


@dataclass(frozen=True)
class StreamProgress:
    """The state of a stream.

    Attributes:
        events: events taken so far, also before it was stopped.
        rate: events a second, lately.
        lag: how much has arrived and waits, for people.
        position: of the last event that was taken; -1 before the first.
        outputs: outputs so far, of all pipes.
        pending: verdicts that wait, by processor.
        batch: the number of Spark's batch.
    """

    events: int
    rate: float
    lag: str
    position: int
    outputs: int
    pending: Pending = field(default_factory=dict)
    batch: int = -1


Tell = Callable[[StreamProgress], None]
"""Called now and then with the state of a stream."""


class _StopError(Exception):
    """Ends a batch early; what was read of it is stored."""


class Following:
    """A run that follows a stream.

    Attributes:
        writer: the run's record.
        reached: how far it has come.
        stop: set by the caller to stop.
        tell: called now and then with its state.
        every: seconds from one batch to the next.
    """

    stop: threading.Event
    tell: Tell
    every: float

    def __init__(
        self, parts: KernelParts, writer: WriterBehind, log: GrowingLog, stream: Stream
    ) -> None:
        self.work = parts.work
        self.parts = parts
        self.writer = writer
        self.log = log
        self.stream = stream
        self.reached = Reached()
        self.behind = writer.write_behind()
        log.write = self.behind.do
        self.commits = Commits(writer.folder / "stream")
        self.before = stream.save()
        self.fault: BaseException | None = None
        self._busy = threading.Lock()
        self._kept = self._told = time.monotonic()
        self._told_events = 0
        self._since: list[pa.Table] = []

    def restore(self) -> None:
        """Load the state that was stored last."""
        for left in self.writer.folder.rglob(".*.part"):
            left.unlink()
        state = self.commits.latest(self.work.run.texts, self.reached)
        if state is None:
            return
        self.work.restore(state["work"])
        self.parts.load(state["parts"])
        self.log.load(state["log"])
        self.before = state["stream"]
        self.stream.load(self.before)
        self._told_events = self.log.length

    def follow(self, session: SparkSession, *, available_now: bool) -> None:
        """Let Spark hand over batches until it is stopped, or has no more."""
        from py4j.protocol import Py4JError  # type: ignore[import-untyped]
        from pyspark.errors import PySparkException

        writer = self.stream.frame(session).writeStream.foreachBatch(self._take)
        writer = writer.option("checkpointLocation", str(self.commits.checkpoint.here.absolute()))
        if available_now:
            writer = writer.trigger(availableNow=True)
        else:
            writer = writer.trigger(
                processingTime=f"{max(1, round(self.every * 1000))} milliseconds"
            )
        query = writer.start()
        try:
            while query.isActive and not self.stop.wait(0.1):
                pass
            with self._busy:
                pass  # a batch under way keeps what it has taken, and ends; no other will begin
        finally:
            query.stop()
        if self.stop.is_set() and (self.fault is None or isinstance(self.fault, _StopError)):
            return
        broken = self.fault or query.exception()
        if isinstance(broken, (PySparkException, Py4JError)):
            raise _broken(self.writer.id, broken) from broken
        if broken is not None:
            raise broken

    def _take(self, frame: DataFrame, batch: int) -> None:
        """One of Spark's batches; called in a thread of Spark's."""
        with self._busy:
            try:
                if self.stop.is_set():
                    raise _StopError
                self._take_batch(frame, batch)
            except BaseException as error:
                self.fault = error
                raise

    def _take_batch(self, frame: DataFrame, batch: int) -> None:
        query = self.commits.checkpoint.query()
        if self.reached.query not in ("", query):
            msg = (
                f"run {self.writer.id}: expected Spark's checkpoint as it was; got another one; "
                "try a new run"
            )
            raise RunnerError(msg)
        self.reached.query = query
        skip = self.reached.skipped(self.writer.id, batch)
        if skip is None:
            return  # read and stored; Spark was stopped before it could note that
        self.writer.check()
        self.commits.checkpoint.keep()
        for table in _tables(self.stream.rows(frame), skip):
            if self.stop.is_set():
                self._keep()
                raise _StopError
            self._step(table)
            if time.monotonic() - self._kept >= self.every:
                self._keep()
            self._tell(_TELL_SECONDS)
        self.reached.over = True
        self.before = self.stream.save()
        self._keep()
        self._tell(0.0)

    def _step(self, table: pa.Table) -> None:
        """Some rows: into the log, through the kernels, and what is complete into the record."""
        self.log.add(table)
        column = column_of(self.log.record, table, self.work.run.texts)
        self._since.append(table)
        try:
            self.work.feed({self.work.chain.inputs[0]: column})
        except EventError as error:
            raise self._first(error) from error
        self.parts.take()
        self.parts.write(self.writer)
        self.reached.rows += table.num_rows

    def _first(self, error: EventError) -> EventError:
        """The error of the first bad event since the last commit."""
        run = self.work.run

        def start() -> KernelWork:
            work = KernelWork(
                self.work.chain, tracked=run.tracked, closed=run.closed, steps=run.steps
            )
            state = self.commits.latest(work.run.texts, Reached())
            if state is not None:
                work.restore(state["work"])
            return work

        def columns(texts: Texts) -> dict[str, Column]:
            rows = pa.concat_tables(self._since)
            return {self.work.chain.inputs[0]: column_of(self.log.record, rows, texts)}

        return first_fault(error, start, columns)

    def _keep(self) -> None:
        """Commit: first what was written counts, then the state says so."""
        self.behind.wait()
        self.log.publish()
        self.writer.publish()
        state = {
            "work": self.work.state(),
            "parts": self.parts.save(),
            "log": self.log.save(),
            "stream": self.before,
        }
        self.writer.check()
        self.commits.keep(self.reached, state)
        self._since = []
        self._kept = time.monotonic()

    def _tell(self, after: float) -> None:
        """Report the state, if it is new and the last report is long enough ago."""
        now, events = time.monotonic(), self.log.length
        if now - self._told < after or events == self._told_events:
            return
        rate = (events - self._told_events) / max(now - self._told, 1e-9)
        self._told, self._told_events = now, events
        run = self.work.run
        outputs = sum(kept.count for kept in run.kept.values() if kept.role.is_output)
        pending = self.work.kernels.pending()
        lag = self.stream.lag()
        self.tell(
            StreamProgress(events, rate, lag, events - 1, outputs, pending, self.reached.batch)
        )

    def end(self) -> None:
        """All was taken: close, write the rest, and leave nothing of the stream but its record."""
        if not self.reached.ending:
            self.reached.ending = True
            self._keep()  # from here on no event is read any more, whatever happens
        self.work.close()
        self.parts.take()
        self.parts.write(self.writer, last=True)
        self.behind.wait()
        self.log.finish(self.stream.report)
        self.writer.finish("complete", pending=self.work.kernels.pending())
        self.commits.remove()

    def broken(self, error: BaseException) -> None:
        """Write into the record why it ended, or leave it so that it can be resumed."""
        final = isinstance(error, WhenceError) and not isinstance(error, (LogError, RunnerError))
        if final:
            self.writer.finish("failed", error=str(error))
            self.commits.remove()
            return
        with suppress(OSError, LogError):
            self.writer.leave()


def _tables(batches: Iterator[pa.RecordBatch], skip: int) -> Iterator[pa.Table]:
    """Rows in pieces of a good size, without the first ones."""
    held: list[pa.RecordBatch] = []
    count = 0
    for whole in batches:
        batch = whole.slice(min(skip, whole.num_rows))
        skip -= whole.num_rows - batch.num_rows
        for start in range(0, batch.num_rows, BATCH):
            held.append(batch.slice(start, BATCH))
            count += held[-1].num_rows
            if count >= BATCH:
                yield pa.Table.from_batches(held)
                held, count = [], 0
    if held:
        yield pa.Table.from_batches(held)


def _broken(run: str, fault: Exception) -> WhenceError:
    """Spark's own faults, and what a reader in another process has refused, in one line."""
    told = str(fault)
    refused = re.search(r"LogError: (.*expected .*)", told)
    if refused is not None:
        return LogError(refused[1])
    said = " ".join(told.split())[:300]
    return RunnerError(
        f"run {run}: expected Spark to follow the stream; got: {said}; "
        "try the same command to resume this run"
    )
