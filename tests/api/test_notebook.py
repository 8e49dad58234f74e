"""As in a notebook: functions of ``__main__``, a session that is there, no server, and a stream."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.engine.random_chains import random_case
from tests.engine.runners._support.kernel_records import even
from whence.api import run, stream
from whence.engine import ApplyFunction, Chain, Cumulate, MemoryTracker, Slice, Window, interpret
from whence.engine.errors import ParameterError, WhenceError
from whence.engine.language.log import Log
from whence.engine.runners import RunOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EVENTS: list[Any] = [{"case": f"c{n % 7}", "x": n * 5 % 9 - 4} for n in range(120)]
CHAINS: dict[str, Any] = {
    "slices": Slice("out", by="case", of=ApplyFunction("ok", "x > -3"), combine="and"),
    "prefix": ApplyFunction("x", "x") | Cumulate("out", "add"),
    "window": ApplyFunction("x", "x") | Window("out", n=3, of=Cumulate("sum", "add")),
}


def places(ranges: Any) -> set[tuple[str, int]]:
    return {(each.log, at) for each in ranges for at in range(each.lo, each.hi + 1)}


@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("runner", ["local", "interpreter"])
def test_without_a_graph_the_record_explains(tmp_path: Path, name: str, runner: Any) -> None:
    chain = CHAINS[name]
    wanted = interpret(chain, {"log": EVENTS}, tracker=MemoryTracker())
    result = run(
        chain,
        EVENTS,
        declare=Log(case="case"),
        runner=runner,
        record=tmp_path,
        options=RunOptions(chunk=20),
    )
    for k in (0, 1, 33, 59, 117):
        why = result.explain(k, support=True)
        assert places(why.inputs) == set(wanted.explain(k).inputs)
        assert places(why.support) == set(wanted.explain(k).support)
        assert (why.output.value, why.output.label) == (wanted.values[k], f"out@{k}")
        assert {event.case for event in why.events} == {
            EVENTS[at]["case"] for _, at in places(why.inputs)
        }
    assert (
        str(why.coverage)
        == f"all {len(wanted.values)} outputs tracked (inputs only, no intermediate steps)"
    )
    assert why.save(tmp_path / "why.json").exists()


def test_random_chains_are_explained_from_the_record(tmp_path: Path) -> None:
    compared = 0
    for seed in range(40):
        case = random_case(seed)
        logs = even(tmp_path / str(seed), case)
        chain = case.chain()
        try:
            wanted = interpret(chain, logs, tracker=MemoryTracker(), closed=case.closed)
        except WhenceError:
            continue
        options = RunOptions(chunk=5, closed=case.closed)
        given: Any = {name: logs[name] for name in chain.inputs}
        result = run(chain, given, runner="local", record=tmp_path / str(seed), options=options)
        for name in chain.outputs:
            for output in wanted.of(name)[:6]:
                told = wanted.explain(output.position, name)
                why = result.explain(f"{name}@{output.position}", support=True)
                assert places(why.inputs) == set(told.inputs), seed
                assert places(why.support) == set(told.support), seed
                compared += 1
    assert compared > 60


def test_what_was_not_tracked_is_not_explained(tmp_path: Path) -> None:
    chain = ApplyFunction("low", "x < 0")
    plain = run(chain, EVENTS, runner="local", record=tmp_path, tracked=False)
    with pytest.raises(ParameterError, match="got one of a run that was not tracked"):
        plain.explain(0)
    options = RunOptions(where="value = true")
    some = run(chain, EVENTS, runner="local", record=tmp_path, options=options)
    assert places(some.explain(some.first(True)).inputs) == {("log", some.first(True))}
    with pytest.raises(ParameterError, match="got one which --where left out"):
        some.explain(some.first(False))
    with pytest.raises(ParameterError, match="expected a position, 0 to 119; got 120"):
        some.explain(120)


NOTEBOOK = """
import json, sys
from dataclasses import dataclass
from pyspark.sql import SparkSession
from whence.api import run
from whence.engine import ApplyFunction, Chain, PythonProcessor, Slice, call, field, function

spark = (SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
         .config("spark.driver.host", "127.0.0.1").getOrCreate())
FAR = 2

def far(x):
    return abs(x) > FAR

@dataclass(frozen=True)
class Rises(PythonProcessor):
    tag = "rises"
    def start(self, tracker):
        seen = []
        def step(value):
            seen.append(value)
            k = len(seen) - 1
            tracker.associate(self.id, 0, k, 0, k)
            return [k > 0 and value > seen[k - 1]]
        return step

log = [{"case": n % 3, "x": n * 5 % 9 - 4} for n in range(30)]
near = ApplyFunction("near", call(function(far), field.x) == False)
sliced = Slice("all", by="case", of=near, combine="and")
told = {}
for name, chain in {"function": near, "slices": sliced,
                    "processor": ApplyFunction("x", "x") | Rises("up")}.items():
    partitions = 2 if name == "slices" else None
    result = run(chain, log, record=sys.argv[1], session=spark, tracked=True,
                 partitions=partitions)
    why = result.explain(4)
    told[name] = [result.to_pandas()["value"].tolist(), [e.position for e in why.events]]
try:
    nameless = function(lambda x: x, name="nameless")
    run(ApplyFunction("f", call(nameless, field.x)), log, record=sys.argv[1], session=spark)
except Exception as error:
    told["error"] = str(error)
print(json.dumps(told))
spark.stop()
"""


@pytest.mark.spark
def test_functions_and_processors_of_a_notebook_run_on_its_session(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-", str(tmp_path)],
        input=NOTEBOOK,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "PYSPARK_PYTHON": sys.executable,
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    xs = [n * 5 % 9 - 4 for n in range(30)]
    near = [abs(x) <= 2 for x in xs]
    assert told["function"] == [near, [4]]
    assert told["slices"][0] == [all(near[max(0, k - 2) : k + 1]) for k in range(30)]
    assert told["processor"] == [[k > 0 and xs[k] > xs[k - 1] for k in range(30)], [4]]
    assert "function 'nameless': expected one that can be imported by its path" in told["error"]


@pytest.mark.spark
def test_a_stream_is_followed_from_python(tmp_path: Path, spark: SparkSession) -> None:
    folder = tmp_path / "arriving"
    folder.mkdir()
    chain = Chain.of(CHAINS["slices"])
    columns = Log(columns={"case": "text", "x": "integer"})
    for number in range(3):
        rows = EVENTS[number * 40 : (number + 1) * 40]
        lines = ["case,x", *(f"{row['case']},{row['x']}" for row in rows)]
        (folder / f"{number}.csv").write_text("\n".join(lines) + "\n")
    seen: list[Any] = []
    result = stream(
        chain,
        folder,
        declare=columns,
        available_now=True,
        tracked=True,
        record=tmp_path / "record",
        session=spark,
        progress=seen.append,
    )
    assert result.record.manifest.status == "complete"
    wanted = interpret(chain, {"log": EVENTS}, tracker=MemoryTracker())
    assert [value for _, value in result.outputs()] == wanted.values
    first = result.first(False)
    assert places(result.explain(first).inputs) == set(wanted.explain(first).inputs)
    assert seen
