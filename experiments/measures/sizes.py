"""How many events explain an output: the distribution over outputs, spread evenly over the run."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from experiments.measures._cell import answer, chain_of, log_of
from experiments.measures.local import options_of
from whence.engine.associations import AssociationIndex
from whence.engine.runners.local_kernels import run_kernels

SAMPLE = 100


def measure(parameters: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Run, then ask for each output of the sample what explains it."""
    query, length = parameters["query"], parameters["length"]
    chain = chain_of(query)
    with TemporaryDirectory() as place:
        logs = {chain.inputs[0]: log_of(query, length, folder)}
        run = run_kernels(Path(place), chain, logs, options_of("ends"))
        (stream,) = (s for s in run.manifest["streams"] if s["role"] == "output")
        index = AssociationIndex(run.rows())
        sizes = [
            sum(hi - lo + 1 for spans in index.up(stream["name"], k).values() for lo, hi in spans)
            for k in np.linspace(0, stream["length"] - 1, min(SAMPLE, stream["length"]), dtype=int)
        ]
    quantiles = np.quantile(sizes, [0, 0.5, 0.9, 0.99, 1])
    names = ("smallest", "median", "p90", "p99", "largest")
    told = dict(zip((f"explained_by_{name}" for name in names), quantiles.tolist(), strict=True))
    return {**told, "explained_by_mean": float(np.mean(sizes)), "outputs": stream["length"]}


if __name__ == "__main__":
    answer(measure)
