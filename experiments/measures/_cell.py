"""What every measurement needs: the cell, a log that is made once, time and memory."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from bench.suites._on_disk import LOGS
from experiments.running import LEFT_OUT
from whence.engine import Chain
from whence.engine.record.logs import LogRecord, ingest
from whence.engine.runners import CHUNK
from whence.engine.sources import open_source

__all__ = ["Spent", "answer", "chain_of", "leave_out", "log_of", "probed", "size_of"]

Measure = Callable[[dict[str, Any], Path], dict[str, Any]]


def answer(measure: Measure) -> None:
    """Read the cell, measure, print one line of JSON."""
    request = json.loads(sys.stdin.read())
    folder = Path(request["folder"]) / "logs"
    print(json.dumps(measure(request["parameters"], folder)))


def leave_out(why: str) -> None:
    """End: this cannot be measured here."""
    print(why, file=sys.stderr)
    sys.exit(LEFT_OUT)


def chain_of(query: str) -> Chain:
    """The query, on records as a log has them."""
    return LOGS[query][0]()


def log_of(query: str, length: int, folder: Path) -> LogRecord:
    """The generated log in a record; made the first time, whole or not at all."""
    root = folder / f"{query}-{length}"
    if not root.exists():
        fresh = folder / f"{query}-{length}.part"
        fresh.mkdir(parents=True, exist_ok=True)
        file = fresh / "log.parquet"
        pq.write_table(pa.table(LOGS[query][1](length)), file)
        ingest(fresh, "log", open_source(file), chunk=CHUNK)
        file.unlink()
        fresh.rename(root)
    (found,) = (root / "logs").iterdir()
    return LogRecord.open(found)


class Spent(NamedTuple):
    """What something took."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int


@contextmanager
def probed() -> Iterator[list[Spent]]:
    """Measure the block; time and memory are read before and after it, never inside."""
    process = psutil.Process()
    told: list[Spent] = []
    _forget_peak()
    start, began, cpu = process.memory_info().rss, time.perf_counter(), process.cpu_times()
    yield told
    seconds, end = time.perf_counter() - began, process.cpu_times()
    peak = max(_peak() - start, 0)
    told.append(Spent(seconds, end.user + end.system - cpu.user - cpu.system, peak))


def _forget_peak() -> None:
    """Let the highest memory so far be today's; Linux only, else the peak includes the start."""
    switch = Path("/proc/self/clear_refs")
    if switch.exists():
        switch.write_text("5", encoding="ascii")


def _peak() -> int:
    status = Path("/proc/self/status")
    if not status.exists():
        return int(psutil.Process().memory_info().rss)
    lines = status.read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


def size_of(folder: Path, part: str) -> int:
    """Bytes of the Parquet files under a part of a run's folder."""
    return sum(
        file.stat().st_size
        for file in folder.rglob("*.parquet")
        if part in file.relative_to(folder).parts
    )
