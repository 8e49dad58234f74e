"""A run of the record as a document of some syntax: time, memory and size."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from experiments.measures._cell import answer, chain_of, log_of, probed, within
from experiments.measures.local import options_of
from whence.engine.runners.local_kernels import run_kernels
from whence.exporters import save_run
from whence.exporters.prov.formats import FORMATS

QUERY = "window"
WARM = 1_000


def measure(parameters: dict[str, Any], folder: Path) -> dict[str, Any]:
    """A short run is written first, so that what is imported is imported."""
    format, chain = parameters["format"], chain_of(QUERY)
    for length in (WARM, parameters["length"]):
        log = log_of(QUERY, length, parameters["seed"], folder)
        with TemporaryDirectory() as place, within(log) as root:
            run = run_kernels(root, chain, {chain.inputs[0]: log}, options_of("ends"))
            file = Path(place) / f"run{FORMATS[format][0]}"
            with probed() as spent:
                save_run(root, run.id, file, format)
            size = file.stat().st_size
    (took,) = spent
    return {**took.told(), "document_bytes": size}


if __name__ == "__main__":
    answer(measure)
