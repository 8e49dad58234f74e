"""Run cells one by one, each in a process of its own, and store the results of each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from experiments.plan import Cell
from experiments.store import Results

__all__ = ["LEFT_OUT", "PATIENCE", "CellError", "Sitting", "run_cells"]

LEFT_OUT = 77
"""Exit code of a cell that cannot be measured here: a log that is not there."""
ROOT = Path(__file__).parent.parent
PATIENCE = 30.0
"""Seconds that a cell may take to clean up when its parent ends."""
SPARE, TIMES = 120.0, 8.0
"""A cell hangs that takes so many seconds and so many times what was foretold: one that does would
else keep all others from being measured."""
LOOK = 0.1
"""Seconds for which the machine is looked at before each cell: are other processes busy?"""

Tell = Callable[[Cell, str], None]


class CellError(Exception):
    """A cell that gave no measurement; one line."""


class Sitting(NamedTuple):
    """What became of the cells that were wanted.

    Attributes:
        left_out: how many cannot be measured here.
        waiting: how many wait for another time, because this one was over.
        failed: a line for each that gave no measurement; the next sitting tries it again.
    """

    left_out: int
    waiting: int
    failed: tuple[str, ...] = ()


def run_cells(
    todo: list[Cell],
    results: Results,
    about: Mapping[str, str | bool],
    tell: Tell = lambda _cell, _how: None,
    seconds: float | None = None,
) -> Sitting:
    """Measure what is not measured yet; one that fails keeps no other from being measured.

    Args:
        todo: all cells that are wanted, in order.
        results: what there is, and where the rest goes.
        about: what every row carries: machine, versions.
        tell: called after each cell, with "measured", "kept", "waits", "left out: why" or
            "failed: why".
        seconds: begin no cell that is foretold to end later than this; no limit unless given.
    """
    known, left_out, waiting = results.keys, 0, 0
    failed: list[str] = []
    began = time.monotonic()
    for cell in todo:
        if cell.key in known:
            tell(cell, "kept")
            continue
        if seconds is not None and time.monotonic() - began + cell.foretold > seconds:
            waiting += 1
            tell(cell, "waits")
            continue
        # Of the whole machine, in per cent, while nothing of ours runs.
        busy, started = psutil.cpu_percent(LOOK), time.monotonic()
        try:
            measured = _measure(cell, results.folder)
        except CellError as error:
            failed.append(str(error))
            tell(cell, f"failed: {error}")
            continue
        if isinstance(measured, str):
            left_out += 1
            tell(cell, f"left out: {measured}")
            continue
        head = {"key": cell.key, "experiment": cell.experiment, "repetition": cell.repetition}
        took = {"cell_seconds": time.monotonic() - started, "busy_before": busy}
        results.add({**head, "seed": cell.seed, **cell.parameters, **measured, **took, **about})
        tell(cell, "measured")
    return Sitting(left_out, waiting, tuple(failed))


def _measure(cell: Cell, folder: Path) -> dict[str, Any] | str:
    request = {"parameters": dict(cell.parameters), "seed": cell.seed, "folder": str(folder)}
    longest = SPARE + TIMES * cell.foretold
    done = _run(f"experiments.measures.{cell.measure}", request, longest)
    if done is None:
        msg = f"{cell.key}: expected a measurement; got none within {longest:.0f} s; "
        msg += f"try python -m experiments {cell.experiment}"
        raise CellError(msg)
    if done.returncode == LEFT_OUT:
        return done.stderr.strip().splitlines()[-1]
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["nothing was said"])[-1]
        msg = f"{cell.key}: expected a measurement; got exit code {done.returncode}: {last}; "
        msg += f"try python -m experiments {cell.experiment}"
        raise CellError(msg)
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def _run(
    module: str, request: dict[str, Any], longest: float
) -> subprocess.CompletedProcess[str] | None:
    """Run a program with a request, and end it with us, however we end; None if it hangs."""
    # It holds one end of a pipe: when we are killed it closes, and the cell ends as well.
    theirs, ours = os.pipe()
    with subprocess.Popen(
        [sys.executable, "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        pass_fds=(theirs,),
    ) as process:
        os.close(theirs)
        try:
            asked = json.dumps({**request, "lifeline": theirs})
            out, err = process.communicate(asked, timeout=longest)
            return subprocess.CompletedProcess(module, process.returncode, out, err)
        except subprocess.TimeoutExpired:
            return None
        finally:
            os.close(ours)
            if process.poll() is None:
                _wait(process)


def _wait(process: subprocess.Popen[str]) -> None:
    """Give a cell the time to stop its servers, which would else stay."""
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
