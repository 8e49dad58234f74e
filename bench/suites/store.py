"""The store: from the record to queryable, the offline importer and a plain writer beside it.

Records are nodes and relationships, with values, searchable columns and markers. The importer is
given the files of ``whence store rebuild`` for a run of the same length, and its own time counts,
without the start of its process and without the files being written. The plain writer makes the
same graph of a shorter log by MERGE, two writers of 5,000 rows. All are rates, so that a shorter
log is fair; but to begin takes the importer a good part of its time here, so that it is best read
in ``many``, with ten times as many events. Every loading has a log of its own and the graph grows:
to empty it takes longer than to fill it. ``many`` and ``fresh`` are measured apart, into the same
file.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count as numbers_from
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench import Bench
from bench.harness import BenchError, quick
from bench.suites._plain_writer import write_plainly
from bench.suites._queries import QUERIES as KNOWN
from bench.suites.spark import chain_of, record_columns
from whence.engine.java import Java, find_java
from whence.engine.language.log import Log
from whence.engine.lineage.association import LOG_PREFIX
from whence.engine.progress import Reporter
from whence.engine.record import LogRecord, RunRecord, ingest
from whence.engine.record.logs import LOG_CHUNK
from whence.engine.runners import RunOptions
from whence.engine.runners.local_kernels import run_kernels
from whence.engine.runners.options import chunk_for
from whence.engine.sources import open_source
from whence.store import Connection, connect
from whence.store.care.exporting import export_runs, numbered
from whence.store.care.import_files import ImportFiles
from whence.store.catalog import find_run
from whence.store.cypher import cypher
from whence.store.loading import load
from whence.store.loading.content import ChunkContent
from whence.store.loading.loader import WRITERS as USUAL
from whence.store.loading.parts import RecordParts
from whence.store.loading.register import prepare_schema, register
from whence.store.server import start, stop
from whence.store.server.fetch import ensure_jars
from whence.store.server.instance import Instance, run_admin
from whence.store.server.memory import Memory
from whence.store.server.replacing import workshop
from whence.store.server.serving import DATABASE, local_store

__all__ = ["QUERIES", "WRITERS", "Place", "bench", "imported", "place", "plainly", "written"]

NAME, SIZED = "bench", "bench-sized"
QUERIES = ("window", "ltl", "lifecycle")
EVENTS = 5_000 if quick() else 100_000
PLAIN = 2_000 if quick() else 20_000
"""For the plain writer, which is slow."""
WRITERS = (1, 2, 4)
IMPORTED = re.compile(r"IMPORT DONE in (?:(\d+)h )?(?:(\d+)m )?(?:(\d+)s ?)?(?:(\d+)ms)?")


@dataclass
class Place:
    """Where everything is, and what was measured on the way.

    Attributes:
        connection: the graph.
        root: the record.
        java: what runs the importer.
        jars: Neo4j's.
        memory: of the server and of the importer.
        told: results of each query's last loading that were not fetched yet.
        files: of each query and length for the importer.
    """

    connection: Connection
    root: Path
    java: Java
    jars: Path
    memory: Memory
    told: dict[tuple[str, int], dict[str, float]] = field(default_factory=dict)
    files: dict[tuple[str, int], ImportFiles] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._numbers = numbers_from()

    def run(self, query: str, count: int) -> RunRecord:
        """The record of a query over a log of this size, which no other run has read."""
        mapped = Log(None, case="case", activity="activity") if query == "lifecycle" else None
        columns = record_columns(query, KNOWN[query].log(count), count)
        log = self.log(columns, mapped, LOG_CHUNK)
        options = RunOptions(chunk=chunk_for(loaded=True))
        return run_kernels(self.root, chain_of(query), {"log": log}, options)

    def log(self, columns: dict[str, pa.Array], mapped: Log | None, chunk: int) -> LogRecord:
        """A log with these columns, which is no other one's."""
        number = next(self._numbers)
        count = len(next(iter(columns.values())))
        columns = {**columns, "number": pa.array(np.full(count, number))}
        file = self.root / f"{number}.parquet"
        self.root.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(columns), file)
        log = ingest(self.root, "log", open_source(file), declared=mapped, chunk=chunk)
        file.unlink()
        return log

    def rate(self, query: str, count: int, what: str) -> float:
        """One figure of a loading; the others are of the same one, in whatever order."""
        if what not in self.told.get((query, count), ()):
            self.told[query, count] = self.loaded(query, count)
        return self.told[query, count].pop(what)

    def loaded(self, query: str, count: int, writers: int = USUAL) -> dict[str, float]:
        """Load from the record to queryable: events and records a second."""
        run = self.run(query, count)
        before = self._records()
        started = time.perf_counter()
        report = load(self.root, run.id, self.connection, writers=writers)
        elapsed = time.perf_counter() - started
        if not report.complete:
            msg = f"store: expected all of {query} in the graph; got a part; try whence store check"
            raise BenchError(msg)
        return {"events": count / elapsed, "records": (self._records() - before) / elapsed}

    def _records(self) -> int:
        (whole,) = self.connection.read(cypher("store_counts"))
        return int(whole["nodes"] + whole["edges"])

    def bytes_per_event(self, query: str, count: int) -> float:
        """Bytes written to the store's files for an event of the log.

        A server writes all of them when it stops, and is slow for a while when it has started
        again: so it is another one. Files have room for later, 32 MiB at a time: that does not
        count.
        """
        run = self.run(query, count)
        before = self._stopped(prepare_schema)
        return (self._stopped(lambda there: load(self.root, run.id, there)) - before) / count

    def _stopped(self, fill: Callable[[Connection], object]) -> int:
        """What is written in the other server's files when it has been filled and has stopped."""
        now = start(SIZED, port=None, memory=self.memory)
        try:
            with connect(now.settings()) as connection:
                fill(connection)
                found = local_store(connection.settings)
        finally:
            stop(SIZED)
        assert found is not None
        return sum(written(path) for path in found[0].rglob("*") if path.is_file())

    def contents(self, run: RunRecord) -> Iterator[ChunkContent]:
        """What the chunks of a run hold, as the loader makes it."""
        known = find_run(self.connection, run.id)
        numbers = {LOG_PREFIX + name: log.no for log in known.logs for name in log.names}
        numbers.update({stream.name: stream.no for stream in known.streams})
        parts = RecordParts(run, run.manifest, numbers)
        return (parts.content(part) for part in parts)


def written(path: Path) -> int:
    """The bytes of a file without its holes, where the file system knows; else all of them."""
    if not hasattr(os, "SEEK_DATA"):
        return path.stat().st_size
    written = end = 0
    with path.open("rb") as file, suppress(OSError):  # there is nothing more
        while True:
            begin = os.lseek(file.fileno(), end, os.SEEK_DATA)
            end = os.lseek(file.fileno(), begin, os.SEEK_HOLE)
            written += end - begin
    return written


@contextmanager
def place() -> Iterator[Place]:
    """A server, a record and a home of this benchmark alone."""
    java = find_java()
    jars = ensure_jars(java, None)
    before = os.environ.get("WHENCE_HOME")
    with TemporaryDirectory(prefix="whence-bench-") as folder:
        os.environ["WHENCE_HOME"] = folder
        (Path(folder) / "jars").symlink_to(jars.parent, target_is_directory=True)
        memory = Memory.for_machine()
        try:
            now = start(NAME, port=None, memory=memory)
            with connect(now.settings()) as connection:
                prepare_schema(connection)
                yield Place(connection, Path(folder) / "record", java, jars, memory)
        finally:
            stop(NAME)
            if before is None:
                del os.environ["WHENCE_HOME"]
            else:
                os.environ["WHENCE_HOME"] = before


def imported(given: Place, query: str, count: int = EVENTS) -> float:
    """Records a second by the offline importer's own clock."""
    files = given.files.get((query, count))
    if files is None:
        folder = given.root / f"files-{query}-{count}"
        folder.mkdir(parents=True)
        runs = [given.run(query, count)]
        files = export_runs(runs, numbered(runs), folder, Reporter(None, "writing", "parts"))
        given.files[query, count] = files
    with workshop(Instance(NAME)) as home:
        said = run_admin(
            home,
            given.java,
            given.jars,
            *("database", "import", "full", DATABASE, "--overwrite-destination=true"),
            f"--report-file={home / 'import.report'}",
            *files.arguments(),
            doing="import the files",
            heap=given.memory.heap,
            timeout=3600,
        )
    told = IMPORTED.search(said)
    if told is None:
        msg = (
            "store: expected the importer to say how long it took; got "
            f"{' '.join(said[-200:].split())}; try another release of Neo4j"
        )
        raise BenchError(msg)
    hours, minutes, seconds, thousandths = (int(part or 0) for part in told.groups())
    elapsed = (hours * 60 + minutes) * 60 + seconds + thousandths / 1000
    return (files.nodes + files.edges) / elapsed


def plainly(given: Place, query: str) -> float:
    """Events a second by the plain writer."""
    run = given.run(query, PLAIN)
    register(given.connection, run, run.manifest)
    started = time.perf_counter()
    write_plainly(given.connection, lambda: given.contents(run))
    return PLAIN / (time.perf_counter() - started)


bench = Bench("From the record to queryable", prepare=place)


def _declare(query: str) -> None:
    _rate(query, f"{query}.events_per_s", "events", EVENTS)
    _rate(query, f"{query}.records_per_s", "records", EVENTS)
    bench.variant(f"{query}.importer.records_per_s", "records/s")(lambda p: imported(p, query))
    bench.variant(f"{query}.plain_writer.events_per_s", "events/s")(lambda p: plainly(p, query))
    bench.ratio(f"{query}.vs_importer", f"{query}.records_per_s", f"{query}.importer.records_per_s")
    bench.ratio(
        f"{query}.vs_plain_writer", f"{query}.events_per_s", f"{query}.plain_writer.events_per_s"
    )
    for writers in WRITERS:
        _writers(query, writers)
    size = bench.variant(f"{query}.bytes_per_event", "bytes", rounds=1)
    size(lambda p: p.bytes_per_event(query, EVENTS))


def _rate(query: str, id: str, what: str, count: int) -> None:
    bench.variant(id, f"{what}/s")(lambda p: p.rate(query, count, what))


def _writers(query: str, writers: int) -> None:
    rate = bench.variant(f"{query}.writers_{writers}.events_per_s", "events/s", rounds=1)
    rate(lambda p: p.loaded(query, EVENTS, writers)["events"])


for _query in QUERIES:
    _declare(_query)
