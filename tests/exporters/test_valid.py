"""Every export is valid by PROV-CONSTRAINTS, as the project's own checker reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.exporters._support.recorded_runs import RUNS
from whence.exporters import RecordedRun, save_runs
from whence.exporters.validating import validate


@pytest.mark.parametrize("kernels", [False, True])
@pytest.mark.parametrize("name", RUNS)
def test_runs_are_valid(name: str, kernels: bool, tmp_path: Path) -> None:
    known = {"owner": "A. Person", "controller": "An Office"}
    runs = [
        RUNS[name](tmp_path / "record", kernels=kernels, detail=detail, metadata=known)
        for detail in ("ends", "steps")
    ]
    sources = [RecordedRun(run.root, run.id, revised={"log": "5f0c"}) for run in runs]
    for file, expand in (("a.json", False), ("a.provn", True), ("a.nq", False)):
        (path,) = save_runs(sources, tmp_path / file, expand=expand)
        report = validate(path)
        assert report.valid, (file, report)
