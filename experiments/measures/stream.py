"""A stream of files followed by Spark: events a second from the first file to the last commit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.suites.stream import FILE, follow, prepared
from experiments.measures._cell import answer
from experiments.measures.local import options_of


def measure(parameters: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Files come four a second; everything is kept after every batch."""
    files = parameters["files"]
    with prepared(parameters["seed"]) as place:
        speed = follow(place, files, options_of(parameters["tracking"]))
        length = files * FILE
        return {"length": length, "seconds": length / speed, "memory_growth": place.growth}


if __name__ == "__main__":
    answer(measure)
