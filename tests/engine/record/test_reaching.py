"""What all outputs lead to, on arrays, is what each of them leads to by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.random_chains import random_case, refusals_skipped
from tests.exporters.making import RUNS
from whence.engine.associations import AssociationIndex
from whence.engine.intervals import Intervals, union
from whence.engine.record import RunRecord, ingest
from whence.engine.record.reaching import Reaching
from whence.engine.runners import RunOptions, run_recorded
from whence.engine.runners.local_kernels import run_kernels


def check(run: RunRecord) -> None:
    index, reaching = AssociationIndex(run.rows()), Reaching(run)
    several = (
        (reaching.explaining(), "output", False),
        (reaching.supporting(), "output", True),
        (reaching.open(), "end", True),
    )
    for found, role, support in several:
        wanted: dict[str, Intervals] = {}
        for stream in run.manifest["streams"]:
            if stream["role"] == role:
                for position in range(1 if role == "end" else stream["length"]):
                    reached = index.up(stream["name"], position, support=support)
                    for log, places in reached.items():
                        wanted[log] = union(wanted.get(log, ()), places)
        assert found == wanted, (role, support)


@pytest.mark.parametrize("kernels", [False, True])
@pytest.mark.parametrize("name", RUNS)
def test_of_known_runs(name: str, kernels: bool, tmp_path: Path) -> None:
    check(RUNS[name](tmp_path, kernels=kernels))


@pytest.mark.parametrize("seed", range(16))
def test_of_random_chains(seed: int, tmp_path: Path) -> None:
    case = random_case(seed)
    runner = run_kernels if seed % 2 else run_recorded
    with refusals_skipped():
        logs = {name: ingest(tmp_path, name, case.logs[name], chunk=7) for name in case.logs}
        options = RunOptions(chunk=7, closed=case.closed, detail="steps" if seed % 3 else "ends")
        run = runner(tmp_path, case.chain(), logs, options)
    check(run)
