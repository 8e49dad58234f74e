"""Run a chain, keep what explains its outputs, and ask: in a few lines of Python.

::

    from whence.api import run

    result = run("lifecycle.yaml", "payments.csv")       # Spark, the record, Neo4j
    why = result.explain(result.first(False))            # which few events made it false
    result.never_matters()                               # which events never matter
    result.impact({"payments": [17, 52]})                # what stands if these were wrong
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from whence.engine.chain import Chain
from whence.engine.chain_file import load_chain
from whence.engine.errors import ChainError, ParameterError, WhenceError
from whence.engine.intervals import of_positions
from whence.engine.log import Log
from whence.engine.processor import Processor
from whence.engine.record import (
    LogRecord,
    RunRecord,
    interrupted_run,
    new_run_id,
    record_place,
)
from whence.engine.record.outputs import outputs_table, spark_outputs
from whence.engine.record.schema import from_canonical
from whence.engine.runners import CHUNK, RunOptions, described, run_recorded
from whence.engine.runners.given_logs import Given, kept_logs, named_logs
from whence.engine.values import Value
from whence.store import Connection, connect
from whence.store.loading import Loading, LoadOptions
from whence.streams import stream

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from whence.engine.runners.plans import Cut
    from whence.store.loading import LoadReport
    from whence.store.questions import Impact, NeverMatters, Why

__all__ = [
    "Answer",
    "LoadOptions",
    "Result",
    "Runner",
    "connect",
    "open_run",
    "plan",
    "run",
    "stream",
]

Runner = Literal["spark", "local", "interpreter"]
Progress = Callable[[int, int, str], None]
"""Called with how much is done, how much there is, and what is being done."""


Found = TypeVar("Found")


@dataclass(frozen=True)
class Answer(Generic[Found]):
    """An answer, and the ways in which it can leave.

    Attributes:
        found: the answer itself; its attributes can be read from here directly.
        record: the run's record, for what the graph does not hold.
    """

    found: Found
    record: RunRecord = field(repr=False)

    def __getattr__(self, name: str) -> Any:
        """Whatever the answer itself has."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.found, name)

    def to_prov(self) -> Any:
        """As a document of the package ``prov``."""
        from whence.exporters import to_prov

        return to_prov(self.found, about=self.record)

    def to_rdflib(self) -> Any:
        """As a Dataset of the package ``rdflib``."""
        from whence.exporters import to_rdflib

        return to_rdflib(self.found, about=self.record)

    def save(self, path: str | Path) -> Path:
        """Write it as PROV; the name's ending says in which format: .json, .nq, .trig (.gz)."""
        from whence.exporters import save

        return save(self.found, path, about=self.record)


@dataclass(frozen=True)
class Result:
    """A run in the record, and in the graph if it was loaded.

    Attributes:
        record: what the run left on disk.
        connection: the graph; ``None`` if the run was not loaded.
        loaded: what loading did; ``None`` if it was not asked for, or not completed.
        not_loaded: why it was not completed; ``whence load`` goes on from there.
        again: an earlier attempt at this run had been interrupted, and this one took it up.
    """

    record: RunRecord
    connection: Connection | None = field(default=None, repr=False)
    loaded: LoadReport | None = None
    not_loaded: WhenceError | None = None
    again: bool = False

    @property
    def id(self) -> str:
        """The run's id."""
        return self.record.id

    def outputs(self, stream: str | None = None) -> Iterator[tuple[int, Value]]:
        """Position and value of every output of a pipe; of the only one, unless named."""
        declared = self._stream(stream)
        for part in declared["outputs"]:
            table = self.record.outputs(declared["name"], part["part"])
            places, values = table.column("position"), table.column("value")
            for place, value in zip(places.to_pylist(), values.to_pylist(), strict=True):
                yield place, from_canonical(value)

    def to_arrow(self, stream: str | None = None) -> pa.Table:
        """The outputs of a pipe as a table: position, moment and value, typed as far as it goes."""
        return outputs_table(self.record, self._stream(stream))

    def to_pandas(self, stream: str | None = None) -> Any:
        """The same as a DataFrame of pandas."""
        return self.to_arrow(stream).to_pandas()

    def to_spark(self, stream: str | None = None, session: SparkSession | None = None) -> Any:
        """The same as a DataFrame of Spark, which reads the record; values are canonical JSON."""
        from whence.engine.runners.spark_session import spark_session

        return spark_outputs(session or spark_session(), self.record, self._stream(stream))

    def first(self, value: Value, stream: str | None = None) -> int:
        """The position of the first output with a value."""
        for position, found in self.outputs(stream):
            if type(found) is type(value) and found == value:
                return position
        msg = f"an output: expected one that is {value!r}; got none; try another value"
        raise ParameterError(msg)

    def explain(self, output: int | str, *, support: bool = False) -> Answer[Why]:
        """Why has this output its value? ``4``, or ``"total@4"`` if the chain has several pipes.

        Without a connection the answer is worked out from the record.
        """
        from whence.store.questions import explain, explain_recorded

        if self.connection is None:
            return Answer(explain_recorded(self.record, str(output), support=support), self.record)
        why = explain(self._graph(), self.id, str(output), support=support, record=self.record.root)
        return Answer(why, self.record)

    def never_matters(self) -> Answer[NeverMatters]:
        """Which input events does no output need?"""
        from whence.store.questions import never_matters

        return Answer(never_matters(self._graph(), self.id, record=self.record.root), self.record)

    def impact(self, inputs: Iterable[int] | Mapping[str, Iterable[int]]) -> Answer[Impact]:
        """What stands, if these input events were wrong? Positions, by log if there are several."""
        from whence.store.questions import impact

        named: dict[str | None, Iterable[int]] = {}
        if isinstance(inputs, Mapping):
            named.update({str(log): places for log, places in inputs.items()})
        else:
            named[None] = inputs
        ranges = {log: of_positions(places) for log, places in named.items()}
        found = impact(self._graph(), self.id, ranges, record=self.record.root)
        return Answer(found, self.record)

    def _graph(self) -> Connection:
        if self.connection is None:
            msg = (
                f"run {self.id}: expected a connection to the graph; got none; "
                "try run(..., connection=connect(...)) or open_run(..., connection=...)"
            )
            raise ParameterError(msg)
        return self.connection

    def _stream(self, name: str | None) -> dict[str, Any]:
        streams = [s for s in self.record.manifest["streams"] if s["role"] == "output"]
        for each in streams:
            if each["name"] == name or (name is None and len(streams) == 1):
                return dict(each)
        names = ", ".join(s["name"] for s in streams)
        msg = f"an output: expected one of {names}; got {name!r}; try one of these"
        raise ChainError(msg)


def run(
    chain: str | Path | Chain | Processor,
    logs: Given | Mapping[str, Given],
    *,
    declare: Log | Mapping[str, Log] | None = None,
    runner: Runner = "spark",
    options: RunOptions | None = None,
    record: str | Path | None = None,
    connection: Connection | None = None,
    load: LoadOptions | None = None,
    session: SparkSession | None = None,
    master: str = "local[*]",
    partitions: int | None = None,
    tracked: bool | None = None,
    progress: Progress | None = None,
) -> Result:
    """Run a chain over logs; with a connection, the graph is loaded while the run goes on.

    If the same was begun before and interrupted (the process was killed), that run is taken up
    again under its id: what was loaded of it stays, and nothing is there twice.

    Args:
        chain: a chain, or the path of a chain file.
        logs: a file, a list of `Path`, a folder, a source, a Spark DataFrame, or events; by log
            name if the chain has several.
        declare: what is known of the log, on top of what the chain says of it: kinds, mapping,
            format, order; by log name if there are several.
        runner: ``spark``; ``local`` for this process, batch by batch; ``interpreter`` for this
            process, one event after the other.
        options: what to keep and how.
        record: where the record is; else ``WHENCE_RECORD`` or the user's data folder.
        connection: the graph to load.
        load: how much of the machine loading takes, and where to if there is no connection yet.
        session: a Spark session of your own.
        master: where Spark runs, if a session has to be started.
        partitions: into how many tasks Spark cuts the run, where that is exact; unless given, as
            many as pay (see `plan`).
        tracked: keep what explains each output, or do not, whatever the options say.
        progress: told how far it has come.
    """
    made = load_chain(chain) if isinstance(chain, (str, Path)) else Chain.of(chain)
    if options is None:
        options = RunOptions() if runner == "interpreter" else RunOptions(chunk=CHUNK)
    if tracked is not None:
        options = replace(options, tracked=tracked)
    root = record_place(record)
    tell = progress or (lambda done, total, text: None)
    made, kept = kept_logs(root, made, named_logs(made, logs), declare, tell)
    interrupted = interrupted_run(root, described(made, kept, options, runner))
    run_id = interrupted or new_run_id()
    with ExitStack() as stack:
        loading = None
        how = load or LoadOptions()
        settings = how.settings or (None if connection is None else connection.settings)
        if settings is not None and options.tracked:
            beside = Loading(
                root, run_id, settings, tell, priority=how.priority, writers=how.writers
            )
            loading = stack.enter_context(beside)
        if runner == "spark":
            from whence.engine.runners.spark_batch import run_on_spark

            found = run_on_spark(
                root,
                made,
                kept,
                options,
                session=session,
                master=master,
                run_id=run_id,
                partitions=partitions,
            )
        elif runner == "local":
            found = _by_kernels(root, made, kept, options, run_id, interrupted is not None, tell)
        elif runner == "interpreter":
            found = run_recorded(
                root,
                made,
                kept,
                options,
                run_id=run_id,
                progress=lambda done, total: tell(done, total, "running"),
            )
        else:
            msg = f"a runner: expected spark, local or interpreter; got {runner!r}; try 'spark'"
            raise ParameterError(msg)
    again = interrupted is not None
    if loading is None:
        return Result(found, again=again)
    return Result(found, connection, loading.report, loading.error, again)


def plan(
    chain: str | Path | Chain | Processor,
    logs: Given | Mapping[str, Given],
    *,
    declare: Log | Mapping[str, Log] | None = None,
    options: RunOptions | None = None,
    record: str | Path | None = None,
    session: SparkSession | None = None,
    master: str = "local[*]",
    partitions: int | None = None,
    progress: Progress | None = None,
) -> Cut:
    """How `run` would cut this run for Spark, and why; nothing is run.

    The logs are put into the record, where the run will find them.

    Args:
        chain: a chain, or the path of a chain file.
        logs: as `run` takes them.
        declare: as `run` takes it.
        options: what to keep and how.
        record: where the record is.
        session: a Spark session of your own.
        master: where Spark would run.
        partitions: into how many tasks it should be cut.
        progress: told how far it has come.
    """
    from whence.engine.runners.plans import cores_of_master, plan_run

    made = load_chain(chain) if isinstance(chain, (str, Path)) else Chain.of(chain)
    tell = progress or (lambda done, total, text: None)
    made, kept = kept_logs(record_place(record), made, named_logs(made, logs), declare, tell)
    cores = cores_of_master(master) if session is None else None
    if cores is None:
        from whence.engine.runners.spark_batch import cores_of
        from whence.engine.runners.spark_session import spark_session

        cores = cores_of(session or spark_session(master))
    return plan_run(
        made, kept, options or RunOptions(chunk=CHUNK), cores=cores, partitions=partitions
    )


def _by_kernels(
    root: Path,
    chain: Chain,
    logs: Mapping[str, LogRecord],
    options: RunOptions,
    run_id: str,
    again: bool,
    tell: Progress,
) -> RunRecord:
    """Run in this process on batches, or go on where that was interrupted."""
    from whence.engine.runners.local_kernels import resume, run_kernels

    before = (0, time.monotonic())

    def progress(done: int, total: int) -> None:
        nonlocal before
        now = time.monotonic()
        rate = (done - before[0]) / max(now - before[1], 1e-9)
        before = (done, now)
        tell(done, total, f"running, {rate:,.0f} events/s")

    if again:
        return resume(root, run_id, progress=progress)
    return run_kernels(root, chain, logs, options, run_id=run_id, progress=progress)


def open_run(
    run: str = "latest",
    *,
    record: str | Path | None = None,
    connection: Connection | None = None,
) -> Result:
    """Find a run of the record again."""
    return Result(RunRecord(record_place(record), run), connection)
