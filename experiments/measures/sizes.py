"""How many events explain an output: the distribution over outputs, spread evenly over the run."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from experiments.measures._cell import answer, chain_of, log_of, size_of
from experiments.measures.local import options_of
from whence.engine.lineage.positions import count
from whence.engine.record.reaching import Reaching
from whence.engine.runners.local_kernels import run_kernels

SAMPLE = 50
SHARES = (0, 10, 25, 50, 75, 90, 99, 100)
"""Percentiles of the distribution of the number of events that explain an output."""


def measure(parameters: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Run, then ask for each output of the sample what explains it."""
    query, length, seed = (parameters[name] for name in ("query", "length", "seed"))
    chain = chain_of(query)
    with TemporaryDirectory() as place:
        logs = {chain.inputs[0]: log_of(query, length, seed, folder)}
        run = run_kernels(Path(place), chain, logs, options_of("ends"))
        (stream,) = run.manifest.outputs
        reaching = Reaching(run)
        asked = np.linspace(0, stream.length - 1, min(SAMPLE, stream.length), dtype=int)
        sizes = [explained_by(reaching, stream.name, int(k)) for k in asked]
        size = size_of(run.folder, "associations")
    told = {f"explained_by_p{share}": float(np.percentile(sizes, share)) for share in SHARES}
    return {
        **told,
        "explained_by_mean": float(np.mean(sizes)),
        "outputs": stream.length,
        "association_bytes": size,
    }


def explained_by(reaching: Reaching, stream: str, position: int) -> int:
    """How many input events explain an output."""
    return sum(count(places) for places in reaching.up(stream, position).values())


if __name__ == "__main__":
    answer(measure)
