"""A stream that was killed goes on, without loss and without doubles."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from tests.engine.runners._support.kernel_records import check
from tests.engine.runners._support.stream_runs import (
    CHAINS,
    EVENTS,
    OPTIONS,
    cut,
    interpreted,
    put,
    streamed,
)
from tests.kills import POINTS, Tell, counted
from whence.engine.record import RunRecord
from whence.engine.record.writing import is_left

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.fault]


def killed(root: Path, folder: Path, name: str, point: str, batch: int) -> None:
    """Follow the folder in a process of its own until it is killed at the point."""
    place = [str(root), str(folder), name, point, str(batch)]
    command = [sys.executable, "-m", "tests.engine.runners._support.stream_killed", *place]
    # What it leaves in temporary folders goes with those of the test.
    temporary = str(folder.parent)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": temporary}
    ended = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=900, check=False
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr[-2000:]


def survive(
    tmp_path: Path,
    spark: SparkSession,
    name: str,
    kills: list[tuple[str, int]],
    root: Path | None = None,
) -> Counter[str]:
    """Be killed at each of these points, one after the other, then come to the end."""
    root = root or tmp_path
    folder = tmp_path / "arriving"
    folder.mkdir()
    # Enough in the first for a part of every stream; the others as it comes. A run that is being
    # ended reads no more, so that nothing comes after that.
    ending = kills[-1][0] == "ending"
    pieces = [EVENTS[:200], *cut(EVENTS[200:], Random(name), len(kills) - ending)]
    files = [(f"{number:02d}.csv", piece) for number, piece in enumerate(pieces)]
    ids = set()
    hits: Counter[str] = Counter()
    for file, (point, batch) in zip(files, kills, strict=False):
        put(folder, *file)
        killed(root, folder, name, point, batch)
        hits[point] += 1
        run = RunRecord(root, "latest")
        assert is_left(run.folder)
        assert run.manifest.status == "interrupted"
        ids.add(run.id)
    if not ending:
        put(folder, *files[-1])
    run = streamed(root, folder, name, OPTIONS, spark)
    assert {run.id} == ids
    check(run, interpreted(name))
    return hits


def test_a_stream_that_is_killed_before_after_and_between_commits_says_the_same(
    tmp_path: Path, spark: SparkSession, record_property: Tell
) -> None:
    hits = survive(tmp_path, spark, "lifecycle", [("state", 0), ("kept", 1), ("between", 2)])
    counted(record_property, "stream, driver", hits)
    assert all(hits[point] for point in ("state", "kept", "between"))


@pytest.mark.full
@pytest.mark.parametrize("name", CHAINS)
def test_a_stream_that_is_killed_at_every_point_says_the_same(
    tmp_path: Path, spark: SparkSession, name: str, record_property: Tell
) -> None:
    # A batch that was not committed comes again under its number; the others go on.
    kills = [("begin", 0), ("part", 0), ("listed", 0), ("state", 0), ("kept", 1), ("between", 2)]
    hits = survive(tmp_path, spark, name, [*kills, ("ending", -1)])
    counted(record_property, "stream, driver", hits)
    assert set(hits) == set(POINTS["stream, driver"])
