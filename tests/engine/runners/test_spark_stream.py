"""A chain on a stream says what the interpreter says of the whole log."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from tests.engine.lineage.slow_index import AssociationIndex
from tests.engine.runners._support.kernel_records import check
from tests.engine.runners._support.stopped_runs import plus
from tests.engine.runners._support.stream_runs import (
    CHAINS,
    DECLARED,
    EVENTS,
    OPTIONS,
    cut,
    interpreted,
    put,
    streamed,
)
from whence.engine import ApplyFunction, Chain, Cumulate, Each, Slice
from whence.engine.errors import EventError, LogError, WhenceError
from whence.engine.functions import function
from whence.engine.language.log import Log
from whence.engine.record import RunRecord, ingest
from whence.engine.runners import RunOptions
from whence.engine.runners.local_kernels import run_kernels
from whence.engine.runners.stream.on_spark import run_stream
from whence.engine.sources import open_source
from whence.engine.sources.folder_stream import FolderStream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ENDINGS = {"window": "parquet", "rule": "jsonl"}
"""How the files are written, unless as CSV."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "arriving"
    made.mkdir()
    return made


@pytest.mark.parametrize("name", CHAINS)
def test_a_stream_says_what_the_interpreter_says_of_the_log(
    tmp_path: Path, folder: Path, spark: SparkSession, name: str
) -> None:
    random = Random(name)
    ending = ENDINGS.get(name, "csv")
    files = [
        (f"{number:02d}.{ending}", piece)
        for number, piece in enumerate(cut(EVENTS, random, 6), start=1)
    ]
    put(folder, *files[1])
    put(folder, *files[0])  # later, but its name comes first
    options = replace(OPTIONS, detail="steps") if name == "nested" else OPTIONS
    stopped = streamed(tmp_path, folder, name, options, spark, files[2:4])
    assert stopped.manifest.status == "interrupted"
    for file in files[4:]:
        put(folder, *file)
    run = streamed(tmp_path, folder, name, options, spark)
    assert run.id == stopped.id
    assert run.manifest.status == "complete"
    check(run, interpreted(name))
    (log,) = run.manifest.logs
    kinds = DECLARED.columns if ending == "csv" else {}
    local = ingest(tmp_path, log, open_source(folder, columns=kinds))
    assert run.log(log).manifest.digest == local.manifest.digest
    assert {path.name for path in run.folder.iterdir()} == {
        "manifest.json",
        "outputs",
        "associations",
    }


def said(run: RunRecord) -> dict[str, Any]:
    """Outputs, what explains and supports each, what is tracked, what waits."""
    index = AssociationIndex(run.rows())
    found: dict[str, Any] = {"pending": run.manifest.pending}
    for stream in run.manifest.streams:
        name = stream.name
        parts = [run.outputs(name, part.part).to_pylist() for part in stream.outputs]
        found[name] = [row for part in parts for row in part], stream.tracked
        if stream.role.is_output:
            found[f"why {name}"] = [
                [index.up(name, n, support=support) for support in (False, True)]
                for n in range(stream.length)
            ]
    return found


@pytest.mark.parametrize(
    "options",
    [
        replace(OPTIONS, where="value = false"),
        replace(OPTIONS, tracked=False),
        replace(OPTIONS, closed=False),
    ],
    ids=["where", "untracked", "open"],
)
def test_a_stream_leaves_the_record_of_a_local_run(
    tmp_path: Path, folder: Path, spark: SparkSession, options: RunOptions
) -> None:
    put(folder, "1.csv", EVENTS[:170])
    put(folder, "2.csv", EVENTS[170:])
    run = streamed(tmp_path, folder, "rule", options, spark)
    chain = Chain.of(CHAINS["rule"]())
    (name,) = chain.inputs
    log = ingest(tmp_path, name, open_source(folder, columns=DECLARED.columns))
    assert said(run) == said(run_kernels(tmp_path, chain, {name: log}, options))


def test_a_file_that_does_not_fit_stops_the_stream_which_goes_on_when_it_does(
    tmp_path: Path, folder: Path, spark: SparkSession
) -> None:
    put(folder, "1.csv", EVENTS[:100])
    odd = [*EVENTS[100:150], {"case": "c", "act": "a", "x": "many"}]
    with pytest.raises(LogError, match=r"2\.csv, row 51 \(line 52\), column 'x': expected an int"):
        streamed(tmp_path, folder, "filter", OPTIONS, spark, [("2.csv", odd)])
    stopped = RunRecord(tmp_path, "latest")
    assert stopped.manifest.status == "interrupted"
    put(folder, "2.csv", EVENTS[100:])
    run = streamed(tmp_path, folder, "filter", OPTIONS, spark)
    assert run.id == stopped.id
    check(run, interpreted("filter"))


def test_an_event_that_the_chain_cannot_take_ends_the_run(
    tmp_path: Path, folder: Path, spark: SparkSession
) -> None:
    put(folder, "1.csv", [{"case": "c", "act": "a", "x": -(2**63)}] * 2)
    with pytest.raises(EventError, match="total, position 1: expected an integer of 64 bits"):
        streamed(tmp_path, folder, "filter", OPTIONS, spark)
    run = RunRecord(tmp_path, "latest")
    assert run.manifest.status == "failed"
    assert not (run.folder / "stream").exists()


def test_what_cannot_be_a_stream_is_refused_before_anything_is_written(
    tmp_path: Path, folder: Path
) -> None:
    own = ApplyFunction("x", "x") | Cumulate("total", function(plus))
    chain = Chain.of(CHAINS["rule"]())
    with pytest.raises(LogError, match="expected a first file; got none"):
        run_stream(tmp_path, chain, FolderStream(folder), OPTIONS, available_now=True)
    put(folder, "1.csv", EVENTS[:3])
    refused: dict[str, Any] = {
        "got 'all'": (chain, FolderStream(folder), RunOptions(witnesses="all")),
        "got Cumulate 'total', which runs event by event": (
            Chain.of(own),
            FolderStream(folder, DECLARED),
            OPTIONS,
        ),
        "got Slice 'cases', which runs event by event": (
            Chain.of(Slice("cases", "x", Each("rule", "x > 0"), "each")),
            FolderStream(folder, DECLARED),
            OPTIONS,
        ),
    }
    for message, asked in refused.items():
        with pytest.raises(WhenceError, match=message):
            run_stream(tmp_path, *asked, available_now=True)
    for declared, message in {
        Log(order="time"): "expected the order of arrival",
        Log(format="xes"): "expected",
    }.items():
        with pytest.raises(LogError, match=message):
            run_stream(tmp_path, chain, FolderStream(folder, declared), available_now=True)
    with pytest.raises(LogError, match="expected a folder that files are put into"):
        FolderStream(folder / "1.csv")
    (tmp_path / "odd*").mkdir()
    with pytest.raises(LogError, match="expected a name without"):
        FolderStream(tmp_path / "odd*")
    assert not (tmp_path / "runs").exists()
    assert not (tmp_path / "logs").exists()
