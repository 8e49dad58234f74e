"""How many events a batch, and how many positions a part, the local runner should take.

End to end: a log of the record is read, the chain runs tracked, and the record is written.
Processor's time; the ids say what was other than it is by default.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory

from bench import Bench
from bench.harness import quick
from bench.suites._on_disk import LOGS, write_log
from whence.engine.record.logs import LogRecord
from whence.engine.runners import CHUNK, RunOptions
from whence.engine.runners.local_kernels import BATCH, run_kernels

EVENTS = 300_000 if quick() else 2_000_000
SIZES = (20_000, 50_000, 65_536, 131_072, 262_144)
QUERIES = ("window", "lifecycle")


@contextmanager
def prepare() -> Iterator[dict[str, Path]]:
    """A record for every query, with its log."""
    with TemporaryDirectory() as folder:
        places = {name: Path(folder) / name for name in QUERIES}
        for name, place in places.items():
            place.mkdir()
            write_log(name, EVENTS, place)
            _run(place, name, BATCH, CHUNK)
        yield places


bench = Bench("Events per second of the local runner, by sizes", prepare=prepare)


def _run(place: Path, name: str, batch: int, chunk: int) -> float:
    root = place / "record"
    (found,) = (root / "logs").iterdir()
    chain = LOGS[name][0]()
    log = LogRecord.open(found)
    started = time.process_time()
    run_kernels(root, chain, {chain.inputs[0]: log}, RunOptions(chunk=chunk), batch=batch)
    took = time.process_time() - started
    rmtree(root / "runs")
    return log.length / took


def _declare(name: str, what: str, size: int) -> None:
    @bench.variant(f"{name}.{what}_{size}", "events/s")
    def measure(places: dict[str, Path]) -> float:
        batch, chunk = (size, CHUNK) if what == "batch" else (BATCH, size)
        return _run(places[name], name, batch, chunk)


for _name in QUERIES:
    for _what in ("batch", "chunk"):
        for _size in SIZES:
            _declare(_name, _what, _size)
