"""The local runner as it is, on a log of the record: memory, and bytes on disk.

``python -m bench.suites._on_disk write LOG COUNT FOLDER`` puts a log into a record,
``python -m bench.suites._on_disk run LOG COUNT FOLDER`` runs its query there, each in a process of
its own, and the second says what it took, as JSON.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from bench.suites._queries import (
    BATCH,
    OPEN,
    QUERIES,
    Arrays,
    again,
    cases,
    fixed_cases,
    lifecycle,
    window,
)
from bench.suites._running import feed
from whence.engine import ApplyFunction, Chain
from whence.engine.kernels.columns.texts import Texts
from whence.engine.kernels.work import KernelWork
from whence.engine.record.logs import LogRecord, ingest
from whence.engine.runners import CHUNK
from whence.engine.runners.local_kernels import run_kernels
from whence.engine.sources import open_source

__all__ = ["LOGS", "grown", "measured", "write_log"]

LOGS: dict[str, tuple[Callable[[], Chain], Callable[..., Arrays]]] = {
    # The record's events have fields; the query of the window takes numbers.
    "window": (lambda: ApplyFunction("number", "value") | window(), QUERIES["window"].log),
    "ltl": (QUERIES["ltl"].own, QUERIES["ltl"].log),
    "lifecycle": (again, fixed_cases),
    "lifecycle.fresh": (lifecycle, cases),
}
"""By id: what runs over which log. Of the lifecycle's one has a thousand case ids, in the other
every case that ends gives place to a new one, and the Slice forgets none."""


def measured(name: str, count: int) -> dict[str, float]:
    """What the local runner took for a log of this size."""
    with TemporaryDirectory() as folder:
        for step in ("write", "run"):
            command = ["-m", "bench.suites._on_disk", step, name, str(count), folder]
            done = subprocess.run(
                [sys.executable, *command], check=True, capture_output=True, text=True
            )
    told: dict[str, float] = json.loads(done.stdout)
    return told


def write_log(name: str, count: int, folder: Path) -> None:
    """Put a log into a record in a folder."""
    arrays = LOGS[name][1](count)
    file = folder / "log.parquet"
    pq.write_table(pa.table(arrays), file)
    ingest(folder / "record", "log", open_source(file), chunk=CHUNK)
    file.unlink()


def _run(name: str, folder: Path) -> dict[str, float]:
    root = folder / "record"
    (found,) = (root / "logs").iterdir()
    log = LogRecord.open(found)
    chain = LOGS[name][0]()
    process = psutil.Process()
    start = process.memory_info().rss
    began = process.cpu_times()
    run = run_kernels(root, chain, {chain.inputs[0]: log})
    ended = process.cpu_times()
    peak = _most_resident() - start
    size = sum(
        file.stat().st_size
        for file in run.folder.rglob("*.parquet")
        if "associations" in file.relative_to(run.folder).parts
    )
    seconds = ended.user + ended.system - began.user - began.system
    return {
        "peak_mb": peak / 1e6,
        "bytes_per_event": size / log.length,
        "events_per_second": log.length / seconds,
    }


def _most_resident() -> int:
    """The most memory that this process ever had; what its parent had is in ``ru_maxrss`` too."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def grown(what: str, count: int) -> float:
    """Bytes of memory that a text takes, or a case with its text; neither is ever forgotten."""
    command = [sys.executable, "-m", "bench.suites._on_disk", "grow", what, str(count), "."]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(done.stdout)


def _grow(what: str, count: int) -> float:
    work = KernelWork(again())
    list(feed(work, fixed_cases(OPEN), OPEN))
    names = pa.array([f"open-{n:07d}" for n in range(count)])
    more = {"case": names, "activity": pa.array(["a"]).take(pa.array([0] * count))}
    list(feed(KernelWork(again()), more, BATCH))  # what is compiled is compiled now
    texts = Texts()
    process = psutil.Process()
    before = process.memory_info().rss
    if what == "text":
        for start in range(0, count, BATCH):
            texts.from_arrow(names.slice(start, BATCH))
    else:
        for _ in feed(work, more, count):
            pass
    return (process.memory_info().rss - before) / count


def _main(step: str, name: str, count: str, folder: str) -> None:
    if step == "write":
        write_log(name, int(count), Path(folder))
    elif step == "run":
        print(json.dumps(_run(name, Path(folder))))
    else:
        print(_grow(name, int(count)))


if __name__ == "__main__":
    _main(*sys.argv[1:])
