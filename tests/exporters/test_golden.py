"""Exports stay the same byte by byte: every format of fixed runs and of a fixed answer."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.exporters._support.recorded_runs import RUNS
from tests.exporters.test_text_survives import about
from whence.exporters import RecordedRun, save, save_runs

GOLDEN: dict[str, dict[str, str]] = json.loads(
    Path(__file__).with_name("golden.json").read_text("utf-8")
)
WHEN = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)


def fixed(name: str, root: Path, *, kernels: bool) -> RecordedRun:
    """A run of today under an id, with times and versions that stay."""
    record = RUNS[name](root, kernels=kernels, chunk=40)
    source = RecordedRun(record.root, record.id, values=True)
    known = source.run
    logs = tuple(replace(log, id=f"l{n}", digest="d") for n, log in enumerate(known.logs))
    source.run = replace(
        known, id="r1", logs=logs, chain_digest="c", chain="{}", engine="1", started=WHEN,
        ended=WHEN, facts=(),
    )  # fmt: skip
    return source


def digests(source: RecordedRun, folder: Path) -> dict[str, str]:
    found = {}
    for format in GOLDEN["lifecycle, rows"]:
        (path,) = save_runs([source], folder / "run", format)
        found[format] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


@pytest.mark.parametrize("kernels", [False, True])
@pytest.mark.parametrize("name", ["lifecycle", "wide window", "totals"])
def test_a_run_is_the_same_in_every_format(name: str, kernels: bool, tmp_path: Path) -> None:
    source = fixed(name, tmp_path / "record", kernels=kernels)
    assert digests(source, tmp_path) == GOLDEN[f"{name}, {'kernels' if kernels else 'rows'}"]


def test_an_answer_is_the_same_in_every_format(tmp_path: Path) -> None:
    found = {}
    for format in GOLDEN["answer"]:
        path = save(about("a b\x01 é", '\\"<&'), tmp_path / "answer", format)
        found[format] = hashlib.sha256(path.read_bytes()).hexdigest()
    assert found == GOLDEN["answer"]
