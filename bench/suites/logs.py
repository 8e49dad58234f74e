"""How fast logs are read: XES against a bare expat pass, CSV against Spark's own scan.

Ratios are of speeds: 1 is as fast, 0.5 takes twice as long. XES is read from the largest real log
if it is at hand (``../shared/logs``), else from a generated one.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.parsers import expat

from bench import Bench
from bench.harness import quick
from whence.engine.sources import open_source
from whence.engine.sources.generate import payment_log, write_log

REAL_LOG = Path(__file__).parents[3] / "shared" / "logs" / "bpic2012.xes.gz"
EVENTS = 100_000 if quick() else 1_000_000
KINDS = {"time": "instant", "amount": "float"}


@dataclass(frozen=True)
class Prepared:
    """The files, how many events each holds, and a Spark session."""

    xes: Path
    csv: Path
    events: dict[str, int]
    spark: Any


@contextmanager
def prepare() -> Iterator[Prepared]:
    """Make the files and start Spark."""
    from whence.engine.runners.spark_session import spark_session

    with TemporaryDirectory() as folder:
        csv = Path(folder) / "payments.csv"
        counted = {"csv": write_log(payment_log(EVENTS), csv)}
        xes = REAL_LOG
        if not xes.exists():
            xes = Path(folder) / "payments.xes.gz"
            write_log(payment_log(min(EVENTS, 250_000)), xes)
        counted["xes"] = read(open_source(xes))
        session = spark_session("local[*]")
        try:
            yield Prepared(xes, csv, counted, session)
        finally:
            session.stop()


def read(source: Any) -> int:
    """Read a log to its end; how many events it has."""
    return sum(batch.num_rows for batch in source.batches())


bench = Bench("Thousand events a second, from the file to columns", prepare=prepare)


def _rate(events: int, started: float) -> float:
    return events / (time.perf_counter() - started) / 1000


@bench.variant("xes", "k events/s")
def read_xes(prepared: Prepared) -> float:
    """Our reader, from opening the file to the last batch."""
    started = time.perf_counter()
    read(open_source(prepared.xes))
    return _rate(prepared.events["xes"], started)


@bench.variant("expat", "k events/s")
def bare_expat(prepared: Prepared) -> float:
    """Unpack and parse the same file, and do nothing with what is found."""
    started = time.perf_counter()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = lambda name, attributes: None
    parser.EndElementHandler = lambda name: None
    with gzip.open(prepared.xes) as file:
        while block := file.read(1 << 20):
            parser.Parse(block, False)
        parser.Parse(b"", True)
    return _rate(prepared.events["xes"], started)


@bench.variant("csv", "k events/s")
def read_csv(prepared: Prepared) -> float:
    """Our reader, with kinds declared."""
    started = time.perf_counter()
    read(open_source(prepared.csv, columns=KINDS))
    return _rate(prepared.events["csv"], started)


@bench.variant("spark_scan", "k events/s")
def spark_scan(prepared: Prepared) -> float:
    """Spark's CSV scan with the same schema, every row read and none stored."""
    schema = "case string, activity string, time timestamp, amount double, clerk string"
    started = time.perf_counter()
    frame = prepared.spark.read.csv(str(prepared.csv), schema=schema, header=True, mode="FAILFAST")
    frame.write.format("noop").mode("overwrite").save()
    return _rate(prepared.events["csv"], started)


bench.ratio("xes.vs_expat", "xes", "expat")
bench.ratio("csv.vs_spark_scan", "csv", "spark_scan")
