"""Run a chain on Spark: kernels inside ``mapInArrow``, and a record that can be gone on with.

A log was put in order once, into Parquet with positions. A task reads the parts that it is given
read, one batch after the other, so that nothing has to be sorted or sent about again. Chains that
can be run in pieces are (see `plans`); any other passes through one task, which is exact whatever
the chain is.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from whence.engine.errors import EventError, RunnerError, WhenceError
from whence.engine.interpreter.pending import summed
from whence.engine.language.chain import Chain
from whence.engine.progress import Listener
from whence.engine.record.folders import log_folder, run_folder
from whence.engine.record.listing import new_run_id
from whence.engine.record.logs import LogRecord
from whence.engine.record.manifest import MANIFEST, RunManifest
from whence.engine.record.place import place_of
from whence.engine.record.run_writer import RunWriter
from whence.engine.record.runs import RunRecord
from whence.engine.record.staged import remove_staged, take_in
from whence.engine.record.writing import WAIT_SECONDS, BusyError
from whence.engine.runners.interrupting import interruptible
from whence.engine.runners.local import described
from whence.engine.runners.local_kernels import BATCH, SECONDS, resume, run_kernels
from whence.engine.runners.options import CHUNK, RunOptions
from whence.engine.runners.plans import Cut, plan_run
from whence.engine.runners.spark.chunks import ChunkTasks, told_by_chunks
from whence.engine.runners.spark.shipping import ship
from whence.engine.runners.spark.slice_parts import LogShape
from whence.engine.runners.spark.slices import SliceTasks, told_by_slices
from whence.engine.runners.spark.watching import Left, starting, watched
from whence.engine.spark_session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Job", "cores_of", "run_each", "run_on_spark"]

_TOLD = pa.schema([("number", pa.int64()), ("error", pa.string())])


@dataclass(frozen=True)
class Job:
    """A run that one task does from beginning to end.

    Attributes:
        root: the record's place, as the workers see it.
        chain: what to run.
        logs: the ids of the record's logs, by their names in the chain.
        options: what to keep and how.
        run_id: the run's id.
        batch: events a batch.
        seconds: minimum time between two stored states.
    """

    root: str
    chain: Chain
    logs: Mapping[str, str]
    options: RunOptions
    run_id: str
    batch: int = BATCH
    seconds: float = SECONDS

    def do(self) -> RunRecord:
        """Run it, or resume it where an earlier attempt ended."""
        root = place_of(self.root)
        begun = run_folder(root, self.run_id) / MANIFEST
        if begun.exists() and self.options.witnesses == "first":
            manifest = self._left(RunRecord(root, self.run_id))
            if manifest.is_interrupted and manifest.batch is not None:
                return resume(
                    root,
                    self.run_id,
                    runner="spark",
                    chain=self.chain,
                    seconds=self.seconds,
                    progress=Left(root, self.run_id),
                )
        logs = {name: LogRecord.open(log_folder(root, id)) for name, id in self.logs.items()}
        return run_kernels(
            root,
            self.chain,
            logs,
            self.options,
            runner="spark",
            run_id=self.run_id,
            batch=self.batch,
            seconds=self.seconds,
            progress=Left(root, self.run_id),
        )

    def _left(self, run: RunRecord) -> RunManifest:
        """What an earlier attempt has left; a process that is ending may need a moment."""
        until = time.monotonic() + WAIT_SECONDS
        while (manifest := run.manifest).is_running and time.monotonic() < until:
            time.sleep(0.05)
        return manifest


def run_on_spark(
    root: Path,
    chain: Chain,
    logs: Mapping[str, LogRecord],
    options: RunOptions | None = None,
    *,
    session: SparkSession | None = None,
    master: str = "local[*]",
    run_id: str | None = None,
    batch: int = BATCH,
    partitions: int | None = None,
    progress: Listener | None = None,
) -> RunRecord:
    """Run a chain over logs of the record on Spark.

    Args:
        root: the record's place; the workers must see it under the same name.
        chain: what to run.
        logs: the record's logs, by their names in the chain.
        options: what to keep and how.
        session: a Spark session; else one is found or started.
        master: where a session is started.
        run_id: the new run's id, if it is known already.
        batch: events a batch.
        partitions: into how many tasks it is cut, where that is exact; unless given, as many as
            pay.
        progress: called with the progress so far.
    """
    options = (options or RunOptions(chunk=CHUNK)).fitted(chain)
    batch = options.at_most(batch, chain)
    run_id = run_id or new_run_id()
    if session is None:
        starting(progress)
        session = spark_session(master)
    with interruptible(session):
        ship(session, chain)
        cut = plan_run(chain, logs, options, cores=cores_of(session), partitions=partitions)
        with watched(session, root, run_id, progress):
            if cut.tasks > 1 and _in_tasks(cut, root, chain, logs, options, session, run_id, batch):
                return RunRecord(root, run_id)
            ids = {name: log.id for name, log in logs.items()}
            job = Job(str(root.absolute()), chain, ids, options, run_id, batch)
            (error,) = run_each([job], session)
    if error is not None:
        raise EventError(error)
    return RunRecord(root, run_id)


def cores_of(session: SparkSession) -> int:
    """How many tasks can work at the same time."""
    told = session.conf.get("spark.default.parallelism", "")
    try:
        return int(told) if told else int(session.sparkContext.defaultParallelism)
    except Exception:  # a session of Spark Connect does not say
        return 1


def _in_tasks(
    cut: Cut,
    root: Path,
    chain: Chain,
    logs: Mapping[str, LogRecord],
    options: RunOptions,
    session: SparkSession,
    run_id: str,
    batch: int,
) -> bool:
    """Run in several tasks; false if an event was refused, and one task has to say which first."""
    (log,) = logs.values()
    described_ = described(chain, logs, options, "spark")
    manifest = {"chain": chain.tree(), **described_, "plan": asdict(cut), "streams": []}
    writer = RunWriter(root, run_id, manifest)
    remove_staged(writer.folder)
    folder = str(writer.folder.absolute())
    try:
        if cut.kind == "slices":
            shape = LogShape(log.columns, log.manifest.plain, log.length)
            tasks = SliceTasks(folder, chain, shape, options, cut.tasks, batch)
            told = told_by_slices(session, tasks, log, cut.key)
        else:
            place = str(log.folder.absolute())
            chunks = ChunkTasks(folder, place, chain, options, cut.tasks, cut.halo, cut.reads_on)
            told = told_by_chunks(session, chunks)
    except Exception as fault:
        writer.leave()
        raise _broken(run_id, fault) from fault
    except BaseException:
        writer.leave()
        raise
    if any("error" in one for one in told):
        remove_staged(writer.folder)
        writer.leave()
        return False
    take_in(writer, told)
    writer.finish("complete", pending=summed(one.get("pending", {}) for one in told))
    return True


def run_each(jobs: Sequence[Job], session: SparkSession, tasks: int = 1) -> list[str | None]:
    """Do several runs in one Spark job; return for each what was wrong with it, if anything was.

    Args:
        jobs: the runs; none needs another.
        session: where.
        tasks: among how many tasks they are shared out.
    """
    ship(session, *(job.chain for job in jobs))
    frame = session.range(0, len(jobs), 1, tasks)
    try:
        rows = frame.mapInArrow(_Task(list(jobs)), "number long, error string").collect()
    except Exception as fault:
        raise _broken(jobs[0].run_id, fault) from fault
    errors: list[str | None] = [None] * len(jobs)
    for row in rows:
        errors[row["number"]] = row["error"]
    return errors


def _broken(run_id: str, fault: Exception) -> RunnerError:
    """Spark's own faults, which may be pages long, in one line."""
    told = str(getattr(fault, "java_exception", None) or fault)
    said = [line.strip() for line in told.splitlines() if line.strip()]
    causes = [line for line in said if "worker exited" in line or line.startswith("Caused by:")]
    raised = [line for line in said if re.match(r"[\w.]+(Error|Exception|Fault): ", line)]
    what = [*causes[:1], *raised[-1:], *said, type(fault).__name__][0][:300]
    return RunnerError(
        f"run {run_id}: expected Spark to bring it to its end; got: {what}; "
        "try the same command to resume this run"
    )


class _Task:
    """What runs inside Spark's worker: the jobs whose numbers it is given."""

    def __init__(self, jobs: list[Job]) -> None:
        self.jobs = jobs

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        # First read all input: a worker whose input is not read to its end is lost.
        numbers = [n for batch in list(batches) for n in batch.column(0).to_pylist()]
        for number in numbers:
            error: str | None = None
            try:
                self.jobs[number].do()
            except BusyError:
                raise  # a second attempt next to the first: Spark decides which one counts
            except WhenceError as fault:
                error = str(fault)
            yield pa.RecordBatch.from_pydict({"number": [number], "error": [error]}, _TOLD)
