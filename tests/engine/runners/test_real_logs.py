"""Real logs on Spark say what the interpreter says, whatever the partitions, files and batches."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from tests.engine.runners._support.kernel_records import check
from tests.engine.runners._support.stream_runs import cut
from tests.guarantee.real_cases import REAL, real_cases
from whence.engine import MemoryTracker, interpret
from whence.engine.language.log import Log
from whence.engine.record import ingest
from whence.engine.runners import RunOptions
from whence.engine.runners.local_kernels import run_kernels
from whence.engine.runners.spark.batch import run_on_spark
from whence.engine.runners.stream import following
from whence.engine.runners.stream.on_spark import run_stream
from whence.engine.sources.folder_stream import FolderStream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

QUICK = "sepsis.csv"
OPTIONS = RunOptions(chunk=48)
DECLARED = Log(columns={"case": "text", "activity": "text", "size": "integer"})
WAYS = ((1, 7), (1, 1_000), (2, 31), (5, 64))
"""Into how many tasks a run is cut, and events a batch."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == QUICK else pytest.mark.full) for name in REAL]
)
def test_batch_stream_and_local_say_what_the_interpreter_says(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    many, ways = (120, WAYS[1:3]) if name == QUICK else (1_000, WAYS)
    random = Random(name)
    for number, real in enumerate(real_cases(name, many, 0)):
        chain, events = real.case.chain(), real.case.logs["log"]
        expected = interpret(chain, {"log": events}, tracker=MemoryTracker())
        root = tmp_path / str(number)
        log = ingest(root, "log", events, chunk=29)
        check(run_kernels(root, chain, {"log": log}, OPTIONS, batch=11), expected)
        for tasks, batch in ways:
            ran = run_on_spark(
                root, chain, {"log": log}, OPTIONS, session=spark, batch=batch, partitions=tasks
            )
            check(ran, expected)
        folder = root / "arriving"
        folder.mkdir()
        for at, piece in enumerate(cut(events, random, 4)):
            lines = (json.dumps(event) + "\n" for event in piece)
            (folder / f"{at}.jsonl").write_text("".join(lines), encoding="utf-8")
        monkeypatch.setattr(following, "BATCH", random.randrange(5, 90))
        stream = FolderStream(folder, DECLARED)
        check(run_stream(root, chain, stream, OPTIONS, session=spark, available_now=True), expected)
