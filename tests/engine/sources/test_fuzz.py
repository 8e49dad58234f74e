from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engine.sources._support.mutated_logs import FORMATS

ROOT = Path(__file__).resolve().parents[3]
MOST_MEGABYTES = 1_500


def fuzz(folder: Path, first: int, count: int, *formats: str) -> dict[str, dict[str, int]]:
    """Read mutations in a process of its own, which may die without harm to this one."""
    program = [sys.executable, "-m", "tests.engine.sources._support.mutated_logs"]
    asked = [str(folder), str(first), str(count), *formats]
    done = subprocess.run([*program, *asked], cwd=ROOT, capture_output=True, text=True, check=False)
    now = (folder / "now").read_text() if (folder / "now").exists() else "nothing yet"
    assert done.returncode == 0, f"at {now}: {done.returncode}\n{done.stderr[-3_000:]}"
    told = json.loads(done.stdout)
    assert told["megabytes"] < MOST_MEGABYTES
    outcomes: dict[str, dict[str, int]] = told["outcomes"]
    for name, counts in outcomes.items():
        # A fuzzer whose files are all refused, or all read, tries nothing.
        assert counts.get("refused", 0) > count // 20, name
        assert sum(counts.values()) - counts.get("refused", 0) > 0, name
    return outcomes


def test_mutated_logs_are_read_or_refused_with_one_line(tmp_path: Path) -> None:
    assert set(fuzz(tmp_path, 0, 60)) == set(FORMATS)


@pytest.mark.full
@pytest.mark.parametrize("format", FORMATS)
def test_many_mutated_logs_are_read_or_refused_with_one_line(format: str, tmp_path: Path) -> None:
    fuzz(tmp_path, 1_000, 4_000, format)
