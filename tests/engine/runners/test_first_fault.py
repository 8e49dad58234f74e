"""Of several events that do not fit, every runner names the first."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from tests.engine.kernels.spoiling import spoiled
from tests.engine.random_chains import random_case
from tests.engine.runners._support.kernel_records import even, logs_of
from whence.api import run
from whence.engine import ApplyFunction, Chain, Cumulate, Trim
from whence.engine.errors import EventError, WhenceError
from whence.engine.interpreter import interpret
from whence.engine.language.log import Log
from whence.engine.runners import RunOptions
from whence.engine.runners.local_kernels import run_kernels
from whence.engine.runners.stream.on_spark import run_stream
from whence.engine.sources.folder_stream import FolderStream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from whence.api import Runner

RUNNERS = ["interpreter", "local", pytest.param("spark", marks=pytest.mark.spark)]
CHAIN = (
    ApplyFunction("checked", "1 / (x - 7)")
    | Trim("later", n=1)
    | ApplyFunction("again", "1 / (value + 0.5)")
    | Cumulate("sum", "add")
)
LOG = [{"x": x} for x in (1, 2, 3, 5, 4, 7, 2)]
FIRST = "again, position 2: expected a divisor that is not zero"
"""1 / (5 - 7) is -0.5 at position 3 of the log; 7 - 7 is 0 only at position 5."""


@pytest.mark.parametrize("runner", RUNNERS)
def test_the_first_bad_event_is_named_though_an_earlier_processor_refuses_a_later_one(
    runner: Runner, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    session: SparkSession | None = request.getfixturevalue("spark") if runner == "spark" else None
    with pytest.raises(EventError) as caught:
        run(CHAIN, LOG, runner=runner, record=tmp_path, session=session)
    assert str(caught.value).startswith(FIRST)
    with pytest.raises(EventError) as alone:
        interpret(CHAIN, LOG)
    assert str(caught.value) == str(alone.value)


@pytest.mark.spark
def test_a_stream_names_the_first_bad_event_too(tmp_path: Path, spark: SparkSession) -> None:
    folder = tmp_path / "arriving"
    folder.mkdir()
    (folder / "1.csv").write_text("x\n" + "".join(f"{event['x']}\n" for event in LOG[:2]))
    (folder / "2.csv").write_text("x\n" + "".join(f"{event['x']}\n" for event in LOG[2:]))
    declared = Log({"x": "integer"})
    with pytest.raises(EventError) as alone:
        interpret(CHAIN, LOG)
    with pytest.raises(EventError) as caught:
        run_stream(
            tmp_path / "record",
            CHAIN,
            FolderStream(folder, declared),
            RunOptions(chunk=3),
            available_now=True,
            session=spark,
        )
    assert str(caught.value) == str(alone.value)


def test_random_chains_refuse_the_same_event_in_the_same_words(tmp_path: Path) -> None:
    refused = 0
    for seed in range(900_000, 900_500):
        case = spoiled(spoiled(random_case(seed)))
        root = tmp_path / str(seed)
        try:
            logs = even(root, case)
        except WhenceError:
            continue
        expected = ""
        try:
            interpret(case.chain(), logs, closed=case.closed)
        except EventError as error:
            expected = str(error)
        got = ""
        try:
            run_kernels(
                root,
                case.chain(),
                logs_of(root, case.chain(), logs, 5),
                RunOptions(chunk=5, closed=case.closed, tracked=seed % 2 == 0),
                batch=Random(seed).choice((3, 8)),
            )
        except EventError as error:
            got = str(error)
        assert got == expected, seed
        refused += bool(expected)
    assert refused > 50


def test_a_chain_of_two_logs_names_the_log_whose_event_comes_first(tmp_path: Path) -> None:
    chain = Chain.graph(
        ["p", "q"],
        [
            (ApplyFunction("of-q", "1 / x"), ["q"]),
            (ApplyFunction("of-p", "1 / x"), ["p"]),
        ],
    )
    logs = {"p": [{"x": 1}, {"x": 0}], "q": [{"x": 2}, {"x": 0}]}
    with pytest.raises(EventError) as alone:
        interpret(chain, logs)
    with pytest.raises(EventError) as caught:
        run(chain, logs, runner="local", record=tmp_path)
    assert str(caught.value) == str(alone.value)
    assert str(caught.value).startswith("of-p, position 1")
