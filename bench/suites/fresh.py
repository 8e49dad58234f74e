"""How soon an output can be asked about, and what loading costs the run beside it.

- ``fresh.p95_s``: a stream of 10,000 events a second, in files, is followed with everything on and
  loaded meanwhile. Of every output in a part that was full: seconds from the first look at the
  record that finds it there to the first look at the graph that finds its part. A part is in the
  graph only when all that it leads to is; so from then on its outputs can be explained. The first
  minute of the stream does not count, in which the loader begins.
- ``fresh.arrival_p95_s``: the same from the moment at which its event was put into the folder, so
  with what Spark takes to see it, and with the wait until its part is full.
- ``fresh.P.slowdown``: seconds of a batch job beside which its graph is loaded, over those of
  the same job alone, for each priority, in the median of pairs; ``fresh.P.events_per_s``: how fast
  it is loaded meanwhile.

A stream of a minute goes before all of it, and a batch job whose graph is loaded: a server that
has just been started compiles itself while it works, for which whatever came first would pay.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench import Bench
from bench.harness import quick
from bench.suites._queries import QUERIES
from bench.suites.store import place
from whence.engine import Chain
from whence.engine.record import LogRecord, RunRecord, ingest
from whence.engine.runners import RunOptions
from whence.engine.runners.local_kernels import run_kernels
from whence.engine.runners.options import LOADED_CHUNK, chunk_for
from whence.engine.runners.spark_session import spark_session
from whence.engine.runners.stream.on_spark import run_stream
from whence.engine.sources import open_source
from whence.engine.sources.folder_stream import FolderStream
from whence.store import Connection
from whence.store.loading import Loading
from whence.store.loading.chunks import chunk_id
from whence.store.loading.priority import PRIORITIES, Priority

__all__ = ["bench"]

RATE = 10_000
EVERY = 0.25
"""Seconds from one file to the next."""
SECONDS = 30.0 if quick() else 300.0
WARM = 15.0 if quick() else 60.0
"""Seconds of the stream before, and at the beginning of the one that counts."""
LOOK = 0.1
MOST = 60.0
"""Seconds after the last event for which parts are waited for."""
EVENTS = 500_000 if quick() else 3_000_000
"""Of the batch job, which has to take long enough for its loading to begin."""
PAIRS = 1 if quick() else 3
OUTPUT = "not-zero"
CHUNKS = """
UNWIND $ids AS id MATCH (c:Chunk {id: id}) RETURN c.id AS id
"""


def _emptied(connection: Connection) -> None:
    some = "MATCH (n) WITH n LIMIT 20000 DETACH DELETE n RETURN count(*) AS n"
    while connection.write(some)[0]["n"]:
        pass


class Fresh(NamedTuple):
    """The p95 of the seconds after which an output can be queried.

    Attributes:
        produced: since it was in the record.
        arrived: since its event was there.
    """

    produced: float
    arrived: float


def freshness(
    connection: Connection,
    seconds: float = WARM + SECONDS,
    rate: int = RATE,
    begin: float = WARM,
) -> Fresh:
    """The seconds after which an output can be queried.

    Args:
        connection: the graph, which is emptied.
        seconds: for how long events arrive.
        rate: how many a second.
        begin: for how long they do not count.
    """
    _emptied(connection)
    folder = Path(tempfile.mkdtemp(prefix="whence-bench-"))
    try:
        return _Stream(connection, folder, seconds, rate).p95(begin)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _Stream:
    """A stream that is fed, followed, loaded and looked at, all at once."""

    def __init__(self, connection: Connection, folder: Path, seconds: float, rate: int) -> None:
        self.connection = connection
        self.inbox, self.root = folder / "inbox", folder / "record"
        self.inbox.mkdir()
        self.file = round(rate * EVERY)
        self.files = round(seconds / EVERY)
        values = QUERIES["window"].log(self.file)["value"]
        self.table = pa.table({"value": pa.array(values)})
        self.put: list[float] = []
        self.kept: dict[int, float] = {}
        self.seen: dict[int, float] = {}
        self.stop = threading.Event()

    def p95(self, begin: float = 0.0) -> Fresh:
        loading: list[Loading] = []
        threads = [threading.Thread(target=self._feed, daemon=True)]

        def began(run: RunRecord) -> None:
            settings = self.connection.settings
            loading.append(Loading(self.root, run.id, settings, None).__enter__())
            threads.append(threading.Thread(target=self._look, args=(run.id,), daemon=True))
            for thread in threads:
                thread.start()

        self._arrive()
        try:
            run_stream(
                self.root,
                _window_of_records(),
                FolderStream(self.inbox),
                RunOptions(chunk=LOADED_CHUNK),
                session=spark_session("local[2]"),
                stop=self.stop,
                began=began,
            )
        finally:
            for each in loading:
                each.__exit__(None, None, None)
        for thread in threads:
            thread.join()
        return self._told(begin)

    def _arrive(self) -> None:
        name = f"{len(self.put):06d}.parquet"
        pq.write_table(self.table, self.inbox / f".{name}")
        (self.inbox / f".{name}").rename(self.inbox / name)
        self.put.append(time.monotonic())

    def _feed(self) -> None:
        self.put[0] = started = time.monotonic()  # from here on there is a listener
        while len(self.put) < self.files:
            time.sleep(max(0.0, started + len(self.put) * EVERY - time.monotonic()))
            self._arrive()
        full = self._full()
        until = time.monotonic() + MOST  # a store that cannot keep up says so by its figure
        while len(self.seen) < full and time.monotonic() < until:
            time.sleep(LOOK)
        self.stop.set()

    def _full(self) -> int:
        """How many parts can be there: those whose last window ends in a part of the log."""
        return (self.files * self.file // LOADED_CHUNK * LOADED_CHUNK - 2) // LOADED_CHUNK

    def _look(self, run: str) -> None:
        record = RunRecord(self.root, run)
        before: object = None
        while not self.stop.is_set():
            files = [path.stat().st_mtime_ns for path in record.folder.glob("*.json*")]
            if files != before:  # else there is nothing new, and it takes long to read
                parts = (s.outputs for s in record.manifest.streams if s.name == OUTPUT)
                self._first(self.kept, (each.part for part in parts for each in part))
                before = files
            ids = [chunk_id("run", run, part, OUTPUT) for part in self.kept.keys() - self.seen]
            rows = self.connection.read(CHUNKS, ids=ids)
            self._first(self.seen, (int(row["id"].rpartition("/")[2]) for row in rows))
            time.sleep(LOOK)

    @staticmethod
    def _first(when: dict[int, float], parts: Iterable[int]) -> None:
        now = time.monotonic()
        for part in parts:
            when.setdefault(part, now)

    def _told(self, begin: float) -> Fresh:
        full = self._full()
        positions = np.arange(full * LOADED_CHUNK)
        never = time.monotonic()  # what was not seen until now has waited for so long at least
        kept, seen = (
            np.array([when.get(part, never) for part in range(full)])[positions // LOADED_CHUNK]
            for when in (self.kept, self.seen)
        )
        arrived = np.array(self.put)[(positions + 2) // self.file]
        counts = arrived >= self.put[0] + begin
        return Fresh(_p95(seen[counts], kept[counts]), _p95(seen[counts], arrived[counts]))


def _p95(then: np.ndarray, since: np.ndarray) -> float:
    waited = np.sort(np.maximum(then - since, 0.0))
    return float(waited[int(0.95 * (len(waited) - 1))])


def _window_of_records() -> Chain:
    """Is the product of every three events in a row other than zero? Events are records here."""
    from whence.engine import ApplyFunction, Cumulate, Window

    of_values = ApplyFunction("value", "value")
    three = Window("three", n=3, of=Cumulate("product", "product"))
    return of_values | three | ApplyFunction(OUTPUT, "value != 0")


def slowdown(
    connection: Connection, priority: Priority, count: int = EVENTS, pairs: int = PAIRS
) -> tuple[float, float]:
    """How much longer a batch job takes beside which it is loaded, and events loaded a second.

    Args:
        connection: the graph, which is emptied.
        priority: how much of the machine loading may take.
        count: events of the job.
        pairs: how often it is done alone and with its loading beside it.
    """
    folder = Path(tempfile.mkdtemp(prefix="whence-bench-"))
    try:
        file = folder / "log.parquet"
        pq.write_table(pa.table(QUERIES["lifecycle"].log(count)), file)
        log = ingest(folder, "log", open_source(file))
        _job(folder, log, "warm-up", None, priority)
        ratios, rates = [], []
        for pair in range(pairs):
            alone, _ = _job(folder, log, f"alone-{pair}", None, priority)
            _emptied(connection)
            beside, rate = _job(folder, log, f"beside-{pair}", connection, priority)
            ratios.append(beside / alone)
            rates.append(rate)
        return median(ratios), median(rates)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _job(
    root: Path, log: LogRecord, name: str, connection: Connection | None, priority: Priority
) -> tuple[float, float]:
    """Seconds of the job itself, and events that were loaded a second meanwhile."""
    chain = QUERIES["lifecycle"].own()
    loading = None
    if connection is not None:
        loading = Loading(root, name, connection.settings, None, priority=priority).__enter__()
    loaded = 0
    try:
        started = time.monotonic()
        options = RunOptions(chunk=chunk_for(loaded=True))
        run_kernels(root, chain, {chain.inputs[0]: log}, options, run_id=name)
        seconds = time.monotonic() - started
        if connection is not None:
            found = connection.read("MATCH (e:Input) RETURN count(e) AS n")
            loaded = int(found[0]["n"])
    finally:
        if loading is not None:  # the rest is not waited for
            loading.__exit__(KeyboardInterrupt, None, None)
    return seconds, loaded / seconds


@contextmanager
def server() -> Iterator[Connection]:
    """A server of this benchmark alone, that has been at work for a while."""
    with place() as prepared:
        freshness(prepared.connection, WARM, begin=0.0)
        slowdown(prepared.connection, "high", pairs=1)
        yield prepared.connection


bench = Bench("How fresh the graph is, and at what price", prepare=server, into="store")


def _declare(measure: Callable[[Connection], tuple[float, ...]], units: dict[str, str]) -> None:
    """Several figures of one measurement, whichever is requested first."""
    found: dict[str, float] = {}

    def one(connection: Connection, id: str) -> float:
        if id not in found:
            found.update(zip(units, measure(connection), strict=True))
        return found.pop(id)

    for id, unit in units.items():
        bench.variant(id, unit, rounds=1)(partial(one, id=id))


_declare(freshness, {"fresh.p95_s": "s", "fresh.arrival_p95_s": "s"})
for _priority in PRIORITIES:
    _declare(
        partial(slowdown, priority=_priority),
        {f"fresh.{_priority}.slowdown": "ratio", f"fresh.{_priority}.events_per_s": "events/s"},
    )
