"""Runs of random chains, left in a record: every other one by kernels."""

from __future__ import annotations

from pathlib import Path

from tests.engine.random_chains import random_case, refusals_skipped
from whence.engine.record import RunRecord, ingest
from whence.engine.runners import RunOptions, run_recorded
from whence.engine.runners.local_kernels import run_kernels

__all__ = ["random_run"]


def random_run(seed: int, root: Path) -> RunRecord:
    """The run of a random case; skips the test where the case refuses its own log."""
    case = random_case(seed)
    runner = run_kernels if seed % 2 else run_recorded
    with refusals_skipped():
        logs = {name: ingest(root, name, case.logs[name], chunk=7) for name in case.logs}
        options = RunOptions(chunk=7, closed=case.closed, detail="steps" if seed % 3 else "ends")
        return runner(root, case.chain(), logs, options)
