"""A DataFrame or an Arrow table is a log for every runner, with the columns that XES names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pytest

from whence.api import Result, Runner, plan, run
from whence.engine import ApplyFunction, Cumulate, Log, Slice
from whence.engine.errors import ChainError, LogError, WhenceWarning

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FRAME = pd.DataFrame(
    {
        "case:concept:name": ["a", "b", "a", "b"],
        "concept:name": ["ask", "ask", "pay", "pay"],
        "time:timestamp": pd.to_datetime(["2026-03-01", "2026-03-04", "2026-03-03", "2026-03-02"]),
        "org:resource": ["Ann", "Bob", "Ann", None],
        "paid": [1.0, 0.0, 7.0, np.nan],
    }
)
CHAIN = Slice("all", by="`case:concept:name`", of=ApplyFunction("paid", "paid > 0"), combine="and")


def outputs(given: Any, folder: Path, **how: Any) -> tuple[Result, list[Any]]:
    result = run(CHAIN, given, record=folder, **how)
    return result, [value for _, value in result.outputs()]


@pytest.fixture(
    params=["interpreter", "local", pytest.param("spark", marks=pytest.mark.spark)], name="how"
)
def runner(request: pytest.FixtureRequest) -> dict[str, Any]:
    chosen: Runner = request.param
    if chosen != "spark":
        return {"runner": chosen}
    session: SparkSession = request.getfixturevalue("spark")
    return {"runner": chosen, "session": session}


def test_every_runner_takes_a_frame_of_pandas_and_says_which_rows_explain(
    tmp_path: Path, how: dict[str, Any]
) -> None:
    result, values = outputs(FRAME[:3], tmp_path, **how)
    assert values == [True, False, False]
    why = result.explain(result.first(False))
    assert [(event.position, event.fields) for event in why.events] == [(1, ("paid",))]
    log = result.record.log("log").manifest
    assert (log.case, log.activity, log.time) == (
        *("case:concept:name", "concept:name", "time:timestamp"),
    )


def test_the_same_rows_are_the_same_log_whoever_holds_them(tmp_path: Path) -> None:
    table = pa.Table.from_pandas(FRAME)
    FRAME.to_parquet(tmp_path / "frame.parquet")
    given = [FRAME, FRAME.copy(), table, table.to_reader(), tmp_path / "frame.parquet"]
    found = {
        outputs(each, tmp_path / "r", runner="local")[0].record.log("log").id for each in given
    }
    assert len(found) == 1
    assert len(list((tmp_path / "r" / "logs").iterdir())) == 1


def test_rows_are_put_in_order_where_that_is_asked_for(tmp_path: Path) -> None:
    result, _ = outputs(FRAME, tmp_path, runner="local", declare=Log(order="time"))
    events: list[Any] = list(result.record.log("log").read())
    assert [event["paid"] for event in events] == [1.0, None, 7.0, 0.0]
    frame = FRAME.assign(**{"time:timestamp": FRAME["time:timestamp"].astype(str)})
    with pytest.raises(LogError, match="time:timestamp' to hold instants"):
        outputs(frame, tmp_path, runner="local", declare=Log(order="time"))


def test_roles_can_be_stated_and_columns_that_a_chain_names_must_be_there(tmp_path: Path) -> None:
    frame = FRAME.rename(columns={"time:timestamp": "when", "concept:name": "what"})
    declared = Log(time="when", activity="what")
    result, _ = outputs(frame, tmp_path, runner="local", declare=declared)
    log = result.record.log("log").manifest
    assert (log.activity, log.time) == ("what", "when")
    with pytest.raises(LogError, match="column 'whem', declared as time"):
        outputs(frame, tmp_path, runner="local", declare=Log(time="whem"))
    with pytest.raises(ChainError, match="paid"):
        outputs(frame.drop(columns="paid"), tmp_path, runner="local")
    assert len(list((tmp_path / "runs").iterdir())) == 1


def test_what_cannot_be_read_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(LogError, match=r"try frame\.reset_index"):
        outputs(FRAME.set_index("case:concept:name"), tmp_path / "r", runner="local")
    with pytest.raises(LogError, match="a finite float"):
        outputs(FRAME.assign(paid=np.inf), tmp_path / "r", runner="local")
    assert not list((tmp_path / "r").glob("runs/*"))
    assert not [each for each in (tmp_path / "r").glob("logs/*") if each.name[0] != "."]


@pytest.mark.parametrize("runner", ["interpreter", "local"])
def test_columns_without_any_value_can_be_compared_with_anything(
    tmp_path: Path, runner: Runner
) -> None:
    frame = pd.DataFrame({"case": ["a", "b"], "clerk": [None, None]})
    for text in ("clerk = 'Ann'", "clerk > 5", "clerk = true"):
        for given in (frame, pa.Table.from_pandas(frame)):
            found = run(ApplyFunction("e", text), given, runner=runner, record=tmp_path)
            assert [value for _, value in found.outputs()] == [False, False]
        with pytest.warns(WhenceWarning, match="is empty"):
            none = run(ApplyFunction("e", text), frame[:0], runner=runner, record=tmp_path)
        assert list(none.outputs()) == []


@pytest.mark.spark
def test_a_plan_for_spark_takes_a_frame_too(tmp_path: Path, spark: SparkSession) -> None:
    assert plan(CHAIN, FRAME, record=tmp_path, session=spark).tasks >= 1


@pytest.mark.parametrize(
    ("log", "got"),
    [
        (np.array([1, 2, 3]), "int64 np.int64(1)"),
        (np.array([[1, 2], [3, 4]]), "ndarray array([1, 2])"),
        ([{"n": np.int64(2)}], "int64 np.int64(2)"),
    ],
)
def test_an_array_of_numpy_is_refused_with_the_list_that_is_read(log: Any, got: str) -> None:
    said = (
        f"expected a value of Python itself; got {got}; "
        "try array.tolist() in its place, or a pandas or Arrow table"
    )
    with pytest.raises(LogError) as raised:
        run(Cumulate("sum", "add"), log, runner="interpreter")
    assert str(raised.value).endswith(said)
    done = run(Cumulate("sum", "add"), np.array([1, 2]).tolist(), runner="interpreter")
    assert [value for _, value in done.outputs()] == [1, 3]


def test_an_integer_that_no_column_holds_is_one_line() -> None:
    with pytest.raises(LogError, match=r"an integer of 64 bits; got integer 1180.*; try a"):
        run(Cumulate("sum", "add"), [1, 2**70], runner="interpreter")
