"""Run cells one by one, each in a process of its own, and keep what each of them tells."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from experiments.plan import Cell, PlanError
from experiments.store import Results

__all__ = ["LEFT_OUT", "run_cells"]

LEFT_OUT = 77
"""Exit code of a cell that cannot be measured here: a log that is not there."""
ROOT = Path(__file__).parent.parent


def run_cells(
    todo: list[Cell],
    results: Results,
    about: Mapping[str, str],
    tell: Callable[[Cell, str], None] = lambda _cell, _how: None,
) -> int:
    """Measure what is not measured yet; say how many cells were left out.

    Args:
        todo: all cells that are wanted, in order.
        results: what there is, and where the rest goes.
        about: what every row carries: machine, versions.
        tell: told after each cell, with "measured", "kept" or "left out: why".
    """
    known, left_out = results.keys, 0
    for cell in todo:
        if cell.key in known:
            tell(cell, "kept")
            continue
        measured = _measure(cell, results.folder)
        if isinstance(measured, str):
            left_out += 1
            tell(cell, f"left out: {measured}")
            continue
        head = {"key": cell.key, "experiment": cell.experiment, "repetition": cell.repetition}
        results.add({**head, "seed": cell.seed, **cell.parameters, **measured, **about})
        tell(cell, "measured")
    return left_out


def _measure(cell: Cell, folder: Path) -> dict[str, Any] | str:
    request = {"parameters": dict(cell.parameters), "seed": cell.seed, "folder": str(folder)}
    done = subprocess.run(
        [sys.executable, "-m", f"experiments.measures.{cell.measure}"],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    if done.returncode == LEFT_OUT:
        return done.stderr.strip().splitlines()[-1]
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["nothing was said"])[-1]
        msg = f"{cell.key}: expected a measurement; got exit code {done.returncode}: {last}; "
        msg += f"try python -m experiments {cell.experiment}"
        raise PlanError(msg)
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told
