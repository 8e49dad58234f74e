"""Run a chain in this process on batches of columns, and write a record that can be resumed.

Parts are written as soon as they are complete. From time to time the state of the run is put
beside them, in one file that is replaced atomically. A killed run resumes from there;
what its manifest lists already is not written again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path

import pyarrow as pa

from whence.engine.errors import EventError, ParameterError, WhenceError
from whence.engine.functions import LOADED
from whence.engine.kernels.columns.column import Column
from whence.engine.kernels.columns.texts import Texts
from whence.engine.kernels.state import UnsavedError, read_state, write_state
from whence.engine.kernels.work import KernelWork
from whence.engine.language.chain import Chain
from whence.engine.language.definition import chain_from_tree
from whence.engine.language.where import where_holds
from whence.engine.progress import Listener, Reporter
from whence.engine.record.files import whole_file
from whence.engine.record.listing import new_run_id
from whence.engine.record.logs import LogRecord
from whence.engine.record.manifest import RunManifest
from whence.engine.record.run_writer import RunWriter
from whence.engine.record.runs import RunRecord
from whence.engine.runners.first_fault import feed_dropping, first_fault
from whence.engine.runners.kernel_parts import KernelParts
from whence.engine.runners.local import described, run_recorded, versions
from whence.engine.runners.log_batches import read_batches
from whence.engine.runners.options import CHUNK, RunOptions
from whence.engine.runners.write_behind import WritingBeside
from whence.engine.values import Value

__all__ = ["BATCH", "SECONDS", "kernel_work", "resume", "run_kernels", "told_where"]

BATCH = 262_144
"""Events a batch."""
SECONDS = 5.0
"""How often the state is stored; later work is redone."""
STATE = "state.arrow"


def run_kernels(
    root: Path,
    chain: Chain,
    logs: Mapping[str, LogRecord],
    options: RunOptions | None = None,
    *,
    runner: str = "local",
    run_id: str | None = None,
    batch: int = BATCH,
    seconds: float = SECONDS,
    progress: Listener | None = None,
    began: Callable[[RunRecord], None] | None = None,
    say: Callable[[str], None] | None = None,
) -> RunRecord:
    """Run a chain over logs of the record.

    Args:
        root: the record's place.
        chain: what to run.
        logs: the record's logs, by their names in the chain.
        options: what to keep and how.
        runner: the name that the manifest gives to this way of running.
        run_id: the new run's id, if it is known already.
        batch: events a batch.
        seconds: minimum time between two stored states.
        progress: called with the progress so far.
        began: called as soon as the run is in the record, so that loading can begin.
        say: called with messages for people.
    """
    options = (options or RunOptions(chunk=CHUNK)).fitted(chain)
    batch = options.at_most(batch, chain)
    if options.witnesses == "all":
        if say is not None:
            say("--witnesses all is only supported by the interpreter; using it")
        named = "interpreter" if runner == "local" else runner
        return run_recorded(
            root,
            chain,
            logs,
            options,
            runner=named,
            run_id=run_id,
            progress=progress,
            began=began,
        )
    work = kernel_work(chain, options)
    parts = KernelParts(work, told_where(options), options.chunk)
    writer = RunWriter(
        root,
        run_id or new_run_id(),
        {
            "chain": chain.tree(),
            **described(chain, logs, options, runner),
            "batch": batch,
            "streams": list(parts.streams()),
        },
    )
    running = _Running(work, parts, writer, logs, batch, seconds, progress)
    running.go_on(lambda: 0, began)
    return RunRecord(root, writer.id)


def resume(
    root: Path,
    run: str,
    *,
    runner: str = "local",
    chain: Chain | None = None,
    seconds: float = SECONDS,
    progress: Listener | None = None,
    began: Callable[[RunRecord], None] | None = None,
) -> RunRecord:
    """Resume a run that was stopped, and write the very same record.

    Args:
        root: the record's place.
        run: the run's id, or ``latest``.
        runner: the name of this way of running; a run of another is refused.
        chain: what it runs, if it is at hand; else it is read from the manifest.
        seconds: minimum time between two stored states.
        progress: called with the progress so far.
        began: called as soon as the run resumes.
    """
    record = RunRecord(root, run)
    manifest = record.manifest
    _check(record.id, manifest, runner)
    if chain is None:
        chain = chain_from_tree(manifest.chain, own=LOADED)
    options = RunOptions.of(manifest)
    logs = {name: record.log(name) for name in chain.inputs}
    work = kernel_work(chain, options)
    parts = KernelParts(work, told_where(options), options.chunk)
    writer = RunWriter.again(root, record.id)
    running = _Running(work, parts, writer, logs, manifest.batch or BATCH, seconds, progress)
    running.go_on(running.restored, began)
    return RunRecord(root, record.id)


def _check(id: str, manifest: RunManifest, runner: str) -> None:
    """Refuse what cannot be resumed."""
    if manifest.runner != runner:
        msg = (
            f"run {id}: expected one of the {runner} runner; got one of {manifest.runner}; "
            "try running the chain again"
        )
        raise ParameterError(msg)
    if manifest.is_complete or manifest.is_running:
        msg = (
            f"run {id}: expected a run that was stopped; got one that is {manifest.status}; "
            "try another"
        )
        raise ParameterError(msg)
    mine, theirs = versions().get("whence"), manifest.versions.get("whence")
    if mine != theirs:
        msg = (
            f"run {id}: expected a run of Whence {mine}; got one of {theirs}; "
            "try that version, or run the chain again"
        )
        raise ParameterError(msg)


def kernel_work(chain: Chain, options: RunOptions) -> KernelWork:
    """A chain at work as the options say."""
    return KernelWork(
        chain,
        tracked=options.tracked,
        closed=options.closed,
        steps=options.detail == "steps",
        limits=options.limits,
    )


def told_where(options: RunOptions) -> Callable[[Value], bool] | None:
    """Which outputs are tracked, by their value; ``None`` if all are."""
    if options.where is None or not options.tracked:
        return None
    return where_holds(options.where)


class _Running:
    """A run on its way."""

    def __init__(
        self,
        work: KernelWork,
        parts: KernelParts,
        writer: RunWriter,
        logs: Mapping[str, LogRecord],
        batch: int,
        seconds: float,
        progress: Listener | None,
    ) -> None:
        self.work = work
        self.parts = parts
        self.writer = writer
        self.logs = logs
        self.batch = batch
        self.seconds = seconds
        self.report = Reporter(progress, "running", "events")
        self.state = writer.folder / STATE
        self.beside = WritingBeside(writer, min(seconds, 1.0))

    def go_on(self, first: Callable[[], int], began: Callable[[RunRecord], None] | None) -> None:
        """Read from a batch on to the end."""
        try:
            start = first()
            if began is not None:
                began(self.writer)
            self._read(start)
            self.beside.wait()
        except KeyboardInterrupt:
            self.beside.close()
            self.writer.leave()  # interrupted: the same command resumes it
            raise
        except BaseException as error:
            self.beside.close()
            message = type(error).__name__
            if isinstance(error, WhenceError):
                message = str(error)
                self.state.unlink(missing_ok=True)  # it would end here again
            # Stored in the record too, so that a reader sees why it ends here.
            self.writer.finish("failed", error=message)
            raise
        self.beside.close()
        self.state.unlink(missing_ok=True)
        self.writer.finish("complete", pending=self.work.kernels.pending())

    def restored(self) -> int:
        """Load the stored state, if there is one; returns the number of the next batch."""
        for left in self.writer.folder.rglob(".*.part"):
            left.unlink()  # of a file that was being written when it was stopped
        if not self.state.exists():
            return 0
        state = read_state(self.state, self.work.run.texts)
        self.work.restore(state["work"])
        self.parts.load(state["parts"])
        return int(state["batches"])

    def _read(self, first: int) -> None:
        lengths = [log.length for log in self.logs.values()]
        kept = last = time.monotonic()
        before = 0
        texts = self.work.run.texts
        batches = read_batches(self.logs, texts, self.batch, first)
        for number, columns in enumerate(batches, start=first + 1):
            try:
                self.work.feed(columns)
            except EventError as error:
                raise self._first(error, number - 1) from error
            self.parts.take()
            if self.parts.write(self.beside):
                self.beside.publish()
            if time.monotonic() - kept >= self.seconds:
                self._keep(number)
                kept = time.monotonic()
            done = sum(min(length, number * self.batch) for length in lengths)
            now = time.monotonic()
            rate = (done - before) / max(now - last, 1e-9)
            before, last = done, now
            self.report(done, sum(lengths), f"running, {rate:,.0f} events/s")
        self.work.close()
        self.parts.take()
        self.parts.write(self.beside, last=True)

    def _first(self, error: EventError, number: int) -> EventError:
        """The error of the first bad event in a batch."""
        chain, closed = self.work.chain, self.work.run.closed
        before: bytes = b""

        def start() -> KernelWork:
            nonlocal before
            work = KernelWork(chain, tracked=False, closed=closed)
            if before:
                work.load(pa.ipc.open_file(before).get_batch(0))
                return work
            batches = read_batches(self.logs, work.run.texts, self.batch)
            feed_dropping(work, islice(batches, number))
            with suppress(UnsavedError):
                before = _copied(work.save())
            return work

        def columns(texts: Texts) -> dict[str, Column]:
            found = next(read_batches(self.logs, texts, self.batch, number))
            return {name: found[name] for name in chain.inputs}

        return first_fault(error, start, columns)

    def _keep(self, batches: int) -> None:
        """Write the state next to the run, after the parts that it assumes to be written."""
        try:
            work = self.work.state()
        except UnsavedError:
            self.seconds = float("inf")  # to continue, this run starts over
            return
        self.beside.settle()
        state = {"work": work, "parts": self.parts.save(), "batches": batches}
        whole_file(self.state, lambda beside: write_state(beside, state))


def _copied(row: pa.RecordBatch) -> bytes:
    """A copy of a state, unaffected while the work continues."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, row.schema) as writer:
        writer.write_batch(row)
    return bytes(sink.getvalue())
