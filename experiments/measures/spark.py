"""The batch runner on Spark over a log of the record; the session is started before."""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median
from typing import Any

from experiments.measures._cell import answer, chain_of, log_of, size_of, within
from experiments.measures.local import WARM, options_of
from whence.engine.record.logs import LogRecord
from whence.engine.runners import RunOptions
from whence.engine.runners.spark.batch import run_on_spark
from whence.engine.runners.spark_session import spark_session

OFTEN, SECONDS = 2, 3.0
"""A run is repeated so often, and until so many seconds went by: it is short beside what it takes
to start a session, which is why this is done within one cell."""


def measure(parameters: dict[str, Any], folder: Path) -> dict[str, Any]:
    """A short log first: workers are started, loops compiled; then the one that counts.

    What counts is the median of several runs over it.
    """
    query, length, seed = (parameters[name] for name in ("query", "length", "seed"))
    options = options_of(parameters["tracking"])
    log = log_of(query, length, seed, folder)
    session = spark_session(parameters["master"])
    try:
        short = log_of(query, WARM, seed, folder)
        with within(short) as root:
            _run(session, root, query, short, options)
        took, size = list[float](), 0
        while len(took) < OFTEN or sum(took) < SECONDS:
            with within(log) as root:
                began = time.perf_counter()
                run = _run(session, root, query, log, options)
                took.append(time.perf_counter() - began)
                size = size_of(run, "associations")
        return {"seconds": median(took), "runs": len(took), "association_bytes": size}
    finally:
        session.stop()


def _run(session: Any, root: Path, query: str, log: LogRecord, options: RunOptions) -> Path:
    chain = chain_of(query)
    return run_on_spark(root, chain, {chain.inputs[0]: log}, options, session=session).folder


if __name__ == "__main__":
    answer(measure)
