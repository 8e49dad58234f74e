"""The store: from the record to queryable, the offline importer and a plain writer beside it.

Records are nodes and relationships, with values, searchable columns and markers. The importer is
given the files of ``whence store rebuild`` for the very same run, and its own time counts, without
the start of its process and without the files being written. The plain writer makes the same graph
of a shorter log by MERGE, two writers of 5,000 rows. All are rates, so that a shorter log is fair.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from bench import Bench
from bench.harness import BenchError, quick
from bench.suites import _fresh
from bench.suites._plain_writer import write_plainly
from bench.suites.spark import chain_of, written
from whence.engine.associations import LOG_PREFIX
from whence.engine.java import Java, find_java
from whence.engine.log import Log
from whence.engine.record import RunRecord
from whence.engine.runners import RunOptions
from whence.engine.runners.local_kernels import run_kernels
from whence.engine.runners.options import LOADED_CHUNK
from whence.store import Connection, connect
from whence.store.care.exporting import export_runs, numbered
from whence.store.care.import_files import ImportFiles
from whence.store.care.sizes import folder_bytes
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

__all__ = ["bench"]

NAME = "bench"
QUERIES = ("window", "ltl", "lifecycle")
EVENTS = 5_000 if quick() else 100_000
MANY = 20_000 if quick() else 1_000_000
PLAIN = 2_000 if quick() else 20_000
"""For the plain writer, which is slow."""
LOG_CHUNK = 5_000
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
        runs: by query and length.
        records: how many records a second each query's last loading wrote.
        files: of each query for the importer.
    """

    connection: Connection
    root: Path
    java: Java
    jars: Path
    memory: Memory
    runs: dict[tuple[str, int], RunRecord] = field(default_factory=dict)
    records: dict[str, float] = field(default_factory=dict)
    files: dict[str, ImportFiles] = field(default_factory=dict)

    def run(self, query: str, count: int) -> RunRecord:
        """The record of a query over a log of so many events, made once."""
        if (query, count) not in self.runs:
            mapped = Log(None, case="case", activity="activity") if query == "lifecycle" else None
            log = written(self.root, query, count, chunk=LOG_CHUNK, declared=mapped)
            options = RunOptions(chunk=LOADED_CHUNK)
            made = run_kernels(self.root, chain_of(query), {"log": log}, options)
            self.runs[query, count] = made
        return self.runs[query, count]

    def emptied(self) -> None:
        """Begin with an empty graph; the server stays warm."""
        some = "MATCH (n) WITH n LIMIT 20000 DETACH DELETE n RETURN count(*) AS n"
        while self.connection.write(some)[0]["n"]:
            pass

    def loaded(self, query: str, count: int, writers: int = USUAL) -> float:
        """Events a second, from the record to queryable."""
        run = self.run(query, count)
        self.emptied()
        started = time.perf_counter()
        report = load(self.root, run.id, self.connection, writers=writers)
        elapsed = time.perf_counter() - started
        if not report.complete:
            msg = f"store: expected all of {query} in the graph; got a part; try whence store check"
            raise BenchError(msg)
        (whole,) = self.connection.read(cypher("store_counts"))
        self.records[query] = (whole["nodes"] + whole["edges"]) / elapsed
        return count / elapsed

    def contents(self, query: str, count: int) -> Iterator[ChunkContent]:
        """What the chunks of a run hold, as the loader makes it."""
        run = self.run(query, count)
        known = find_run(self.connection, run.id)
        numbers = {LOG_PREFIX + name: log.no for log in known.logs for name in log.names}
        numbers.update({stream.name: stream.no for stream in known.streams})
        parts = RecordParts(run, run.manifest, numbers)
        return (parts.content(part) for part in parts)


@contextmanager
def place() -> Iterator[Place]:
    """A server, a record and a home of this benchmark alone."""
    java = find_java()
    jars = ensure_jars(java, lambda done, total, text: None)
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


def imported(given: Place, query: str) -> float:
    """Records a second by the offline importer's own clock."""
    files = given.files.get(query)
    if files is None:
        folder = given.root / f"files-{query}"
        folder.mkdir(parents=True)
        runs = [given.run(query, EVENTS)]
        files = export_runs(runs, numbered(runs), folder, lambda done, total, text: None)
        given.files[query] = files
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
    given.emptied()
    register(given.connection, run, run.manifest)
    started = time.perf_counter()
    write_plainly(given.connection, lambda: given.contents(query, PLAIN))
    return PLAIN / (time.perf_counter() - started)


def bytes_per_event(given: Place, query: str) -> float:
    """Bytes of the store's files for an event of the log, in a database that held nothing else."""
    found = local_store(given.connection.settings)
    assert found is not None
    port = int(given.connection.settings.uri.rpartition(":")[2])
    stop(NAME)
    for folder in found:
        shutil.rmtree(folder)
    start(NAME, port=port, memory=given.memory)
    prepare_schema(given.connection)
    empty = _settled(given.connection, found[0])
    load(given.root, given.run(query, EVENTS).id, given.connection)
    return (_settled(given.connection, found[0]) - empty) / EVENTS


def _settled(connection: Connection, folder: Path) -> int:
    with connection.driver.session() as session:
        session.run("CALL db.checkpoint()").consume()
    return folder_bytes(folder)


bench = Bench("From the record to queryable", prepare=place)


def _declare(query: str) -> None:
    bench.variant(f"{query}.events_per_s", "events/s")(lambda p: p.loaded(query, EVENTS))
    bench.variant(f"{query}.records_per_s", "records/s")(lambda p: p.records[query])
    bench.variant(f"{query}.importer.records_per_s", "records/s")(lambda p: imported(p, query))
    bench.variant(f"{query}.plain_writer.events_per_s", "events/s")(lambda p: plainly(p, query))
    bench.ratio(f"{query}.vs_importer", f"{query}.records_per_s", f"{query}.importer.records_per_s")
    bench.ratio(
        f"{query}.vs_plain_writer", f"{query}.events_per_s", f"{query}.plain_writer.events_per_s"
    )
    for writers in WRITERS:
        _declare_writers(query, writers)
    many = bench.variant(f"{query}.many.events_per_s", "events/s", rounds=1)
    many(lambda p: p.loaded(query, MANY))
    size = bench.variant(f"{query}.bytes_per_event", "bytes", rounds=1)
    size(lambda p: bytes_per_event(p, query))


def _declare_writers(query: str, writers: int) -> None:
    rate = bench.variant(f"{query}.writers_{writers}.events_per_s", "events/s", rounds=1)
    rate(lambda p: p.loaded(query, EVENTS, writers))


for _query in QUERIES:
    _declare(_query)
_fresh.declare(bench, lambda p: p.connection)
