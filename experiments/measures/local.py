"""The local runner over a log of the record: events a second, memory, bytes on disk."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from experiments.measures._cell import answer, chain_of, log_of, probed, size_of
from whence.engine.record.logs import LogRecord
from whence.engine.runners import CHUNK, RunOptions
from whence.engine.runners.local_kernels import BATCH, run_kernels

WARM = 2 * BATCH


def measure(parameters: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Run once on a short log, so that what is compiled is compiled; then the one that counts."""
    query, length, seed = (parameters[name] for name in ("query", "length", "seed"))
    options = options_of(parameters["tracking"])
    log = log_of(query, length, seed, folder)
    with TemporaryDirectory() as place:
        run_local(Path(place) / "warm", query, log_of(query, WARM, seed, folder), options)
        with probed() as spent:
            run = run_local(Path(place) / "run", query, log, options)
        (took,) = spent
        return {
            **took.told(),
            "association_bytes": size_of(run, "associations"),
            "output_bytes": size_of(run, "outputs"),
        }


def options_of(tracking: str) -> RunOptions:
    """What the word for tracking means."""
    if tracking == "off":
        return RunOptions(tracked=False, chunk=CHUNK)
    return RunOptions(detail="steps" if tracking == "steps" else "ends", chunk=CHUNK)


def run_local(root: Path, query: str, log: LogRecord, options: RunOptions) -> Path:
    """Run a query, and say where the run is."""
    chain = chain_of(query)
    return run_kernels(root, chain, {chain.inputs[0]: log}, options).folder


if __name__ == "__main__":
    answer(measure)
