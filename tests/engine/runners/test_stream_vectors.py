"""Worked cases and random chains as streams: outputs, explanations and supports as ever."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.engine.random_chains import TAGS, random_case
from tests.engine.runners._support.kernel_records import check
from whence.engine import ApplyFunction, Chain, MemoryTracker, interpret
from whence.engine.errors import EventError, LogError, WhenceError
from whence.engine.lineage.terms import Inputs
from whence.engine.record import RunRecord
from whence.engine.runners import RunOptions
from whence.engine.runners.stream import following
from whence.engine.runners.stream.on_spark import run_stream
from whence.engine.sources.folder_stream import FolderStream
from whence.engine.vectors import RUNNERS, check_file
from whence.engine.vectors.runners import Case, Ran, _Explained, _recorded

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

VECTORS = Path(__file__).parents[2] / "vectors"


def followed(root: Path, case: Case, session: Any) -> tuple[RunRecord, Chain]:
    """Run a case as a stream of two files; of plain values a file has the field ``value``."""
    (name,) = case.chain.inputs
    events = case.logs[name]
    chain = case.chain
    if not isinstance(events[0], dict):
        chain = Chain.of(ApplyFunction("taken", "value")) | chain
        events = [{"value": event} for event in events]
    folder = root / "arriving"
    folder.mkdir(parents=True)
    half = (len(events) + 1) // 2
    for number, piece in enumerate(filter(None, (events[:half], events[half:]))):
        lines = "".join(json.dumps(event) + "\n" for event in piece)
        (folder / f"{number}.jsonl").write_text(lines, encoding="utf-8")
    options = RunOptions(closed=case.closed, chunk=4)
    stream = FolderStream(folder)
    run = run_stream(root, chain, stream, options, session=session, available_now=True, every=0.0)
    return run, chain


def streamed(root: Path, case: Case, session: Any) -> Ran:
    """What a case says as a stream."""
    (name,) = case.chain.inputs
    told = _recorded(*followed(root, case, session))

    def named(inputs: Inputs) -> Inputs:
        return {(name, position): None for _, position in inputs}

    def explain(k: int) -> _Explained:
        return _Explained(named(told.explain(k).inputs), named(told.explain(k).support))

    return Ran(told.values, explain, named(told.open_inputs))


def chosen(file: str, every: int, first: int) -> list[dict[str, Any]]:
    """Every so many-th case that reads one log with events in it."""
    cases = json.loads((VECTORS / file).read_text(encoding="utf-8"))["cases"]
    fit = [case for case in cases if len(case["inputs"]) == 1 and all(case["inputs"].values())]
    return fit[first::every]


def check_cases(
    tmp_path: Path,
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    cases: list[dict[str, Any]],
) -> None:
    def runner(read: Sequence[Case]) -> Iterator[Ran | WhenceError]:
        for number, case in enumerate(read):
            try:
                yield streamed(tmp_path / str(number), case, spark)
            except WhenceError as error:
                yield error

    monkeypatch.setattr(following, "BATCH", 3)  # its state is kept after each
    monkeypatch.setitem(RUNNERS, "stream", runner)
    file = tmp_path / "cases.json"
    file.write_text(json.dumps({"cases": cases}), encoding="utf-8")
    report = check_file(file, "stream")
    assert report.failures == []
    assert report.passed == len(cases) > 0
    assert (report.extra, report.fewer, report.extra_open, report.fewer_open) == (0, 0, 0, 0)


@pytest.mark.parametrize("file", ["chains.json", "nested.json"])
def test_some_worked_cases_pass_as_streams(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    check_cases(tmp_path, spark, monkeypatch, chosen(file, 40, 7))


@pytest.mark.full
@pytest.mark.parametrize("first", range(4))
@pytest.mark.parametrize("file", ["chains.json", "nested.json"])
def test_every_worked_case_of_one_log_passes_as_a_stream(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch, file: str, first: int
) -> None:
    check_cases(tmp_path, spark, monkeypatch, chosen(file, 4, first))


@pytest.mark.parametrize("seeds", [range(12), pytest.param(range(12, 120), marks=pytest.mark.full)])
def test_random_chains_as_streams_say_what_the_interpreter_says(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch, seeds: range
) -> None:
    monkeypatch.setattr(following, "BATCH", 5)
    compared = 0
    for seed in seeds:
        drawn = random_case(seed, TAGS)
        if len(drawn.logs) != 1:
            continue
        logs = {name: log * 3 for name, log in drawn.logs.items()}
        try:
            run, chain = followed(
                tmp_path / str(seed), Case(drawn.chain(), logs, drawn.closed), spark
            )
        except (EventError, LogError):
            continue  # the chain, or the record, refuses the log that was drawn for it
        (name,) = chain.inputs
        read = {name: list(run.log(name).read())}
        check(run, interpret(chain, read, tracker=MemoryTracker(), closed=drawn.closed))
        compared += 1
    assert compared > len(seeds) / 4
