"""Whether the first load into an empty graph takes about the same every time.

Ten fresh servers, one after the other: the demo's life cycle is run in this process, and its graph
is loaded meanwhile, as ``whence demo`` does it. While a server has counted no events yet, two plans
for one statement may cost its planner the same. If one of them is slow, the load is slow now and
then, so the slowest counts: it should take at most twice the median (``slowest_vs_median``).

- ``seconds``: of each load, from the beginning of the run until all of it is in the graph.
- ``slowest_vs_median``: the slowest of them over their median.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bench import Bench
from bench.harness import BenchError, quick
from whence.api import run
from whence.engine.java import find_java
from whence.engine.sources.generate import payment_log, write_log
from whence.store import connect
from whence.store.server import remove, start, stop
from whence.store.server.fetch import ensure_jars

__all__ = ["bench"]

SERVERS = 2 if quick() else 10
EVENTS = 20_000
"""As many as the demo has."""


@contextmanager
def loads() -> Iterator[list[float]]:
    """The seconds of every first load."""
    jars = ensure_jars(find_java(), None)
    before = os.environ.get("WHENCE_HOME")
    with TemporaryDirectory(prefix="whence-bench-") as folder:
        os.environ["WHENCE_HOME"] = folder
        try:
            yield _each_on_its_own_server(Path(folder), jars)
        finally:
            if before is None:
                del os.environ["WHENCE_HOME"]
            else:
                os.environ["WHENCE_HOME"] = before


def _each_on_its_own_server(home: Path, jars: Path) -> list[float]:
    (home / "jars").symlink_to(jars.parent, target_is_directory=True)
    chain, log = home / "lifecycle.yaml", home / "payments.csv"
    demo = files("whence.cli") / "demo_chains" / "lifecycle.yaml"
    chain.write_text(demo.read_text(encoding="utf-8"), encoding="utf-8")
    write_log(payment_log(EVENTS), log)
    run(chain, log, runner="local", record=home / "compiled")  # what it compiles, no load pays for
    return [_first_load(chain, log, home / f"record-{n}", f"first-{n}") for n in range(SERVERS)]


def _first_load(chain: Path, log: Path, record: Path, name: str) -> float:
    try:
        with connect(start(name, port=None).settings()) as connection:
            began = time.perf_counter()
            result = run(
                *(chain, log),
                runner="local",
                record=record,
                connection=connection,
                progress=lambda told: None,
            )
            seconds = time.perf_counter() - began
        if result.not_loaded is not None:
            msg = f"expected {result.id} in the graph; got: {result.not_loaded}; try again"
            raise BenchError(msg)
        return seconds
    finally:
        stop(name)
        remove(name)


bench = Bench("First loads into fresh servers", prepare=loads, rounds=max(5, SERVERS), warm_up=0)
_number = count()


@bench.variant("seconds", "s", rounds=SERVERS)
def seconds(found: list[float]) -> float:
    """The next load."""
    return found[next(_number) % len(found)]


@bench.variant("slowest_vs_median", "ratio", rounds=1)
def slowest(found: list[float]) -> float:
    """The slowest load over the median of all."""
    return max(found) / median(found)
