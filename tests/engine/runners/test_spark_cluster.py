"""On a cluster, where workers are other processes without Whence: the same record."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.engine.runners._support.kernel_records import check
from tests.engine.runners._support.spark_clusters import (
    LOCAL_CLUSTER,
    drive,
    python_of_workers,
    standalone,
)
from whence.engine import (
    ApplyFunction,
    Chain,
    Cumulate,
    MemoryTracker,
    Slice,
    Window,
    interpret,
)
from whence.engine.record import RunRecord, ingest

pytestmark = pytest.mark.spark

VECTORS = Path(__file__).parents[2] / "vectors"

BEGIN = """
import json
from pathlib import Path
from whence.engine import *
from whence.engine.errors import WhenceError
from whence.engine.record.logs import LogRecord
from whence.engine.runners import RunOptions
from whence.engine.runners.spark.batch import run_on_spark
from whence.engine.runners.spark_session import spark_session
root, master = Path(sys.argv[1]), sys.argv[2]
session = spark_session(master)
log = LogRecord.open(next((root / "logs").glob("*/manifest.json")).parent)
options = RunOptions(chunk=50)
def run(name, chain, **more):
    run_on_spark(root, chain, {"log": log}, options, session=session, run_id=name, **more)
"""

RECORDS = (
    BEGIN
    + """
slices = Chain.of(Slice("all", by="case", of=ApplyFunction("ok", "x > -3"), combine="and"))
run("slices", slices, partitions=2)
run("one", ApplyFunction("x", "x") | Cumulate("total", "add"), batch=30)
run("chunks", ApplyFunction("x", "x") | Window("three", n=3, of=Cumulate("sum", "add")),
    partitions=2)
import own_functions
run("own", Chain.of(ApplyFunction("far", call(function(own_functions.far), field.x))))
def near(x):
    return not own_functions.far(x)
run("here", Chain.of(ApplyFunction("near", call(function(near), field.x))))

def look(batches):
    import importlib.metadata, pyarrow, sys, whence.engine, own_functions
    rows = [n for batch in batches for n in batch.column(0).to_pylist()]
    told = [whence.engine.__file__, own_functions.__file__, importlib.metadata.version("whence"),
            sys.executable]
    yield pyarrow.RecordBatch.from_pydict({"told": [json.dumps(told)]})

told = session.range(0, 2, 1, 2).mapInArrow(look, "told string").collect()
print(json.dumps([json.loads(row["told"]) for row in told]))
print(any("whence-" in path and ".zip" in path for path in sys.path))
import os
for python in sys.argv[3:]:
    session.stop()
    os.environ["PYSPARK_PYTHON"] = python
    session = spark_session(master)
    try:
        run("never", Chain.of(ApplyFunction("x", "x")))
    except WhenceError as error:
        print(error)
"""
)

WORKED = """
from pathlib import Path
from whence.engine.runners.spark_session import spark_session
root, master = Path(sys.argv[1]), sys.argv[2]
session = spark_session(master)
from whence.engine.vectors import check_file
for name in ("chains.json", "nested.json"):
    report = check_file(str(root / name), "spark")
    print(report.passed, report.failures)
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return python_of_workers(tmp_path_factory.mktemp("workers"))


@pytest.fixture(params=[LOCAL_CLUSTER, pytest.param("standalone", marks=pytest.mark.full)])
def master(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    with ExitStack() as stack:
        given: str = request.param
        if given == "standalone":
            (tmp_path / "cluster").mkdir()
            given = stack.enter_context(standalone(tmp_path / "cluster"))
        yield given


def test_workers_without_whence_get_it_as_a_wheel_and_leave_the_same_record(
    tmp_path: Path, master: str, python: Path
) -> None:
    (tmp_path / "own_numbers.py").write_text("FAR = 2\n")
    (tmp_path / "own_functions.py").write_text(
        "import own_numbers\n\ndef far(x):\n    return abs(x) > own_numbers.FAR\n"
    )
    events = [{"case": f"c{n % 7}", "x": n * 5 % 9 - 4} for n in range(300)]
    log = ingest(tmp_path, "log", events, chunk=100)
    bare = python_of_workers(tmp_path / "bare", packages=False)
    nowhere = tmp_path / "no-such-python"
    done = drive(
        RECORDS, str(tmp_path), master, str(bare), str(nowhere), python=python, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr[-3000:]
    told, in_driver, without_packages, without_python = done.stdout.splitlines()[-4:]
    for whence, own, version, executable in json.loads(told):
        assert "/whence-" in whence
        assert ".zip/whence/engine/__init__.py" in whence
        assert ".zip/own_functions.py" in own
        assert version
        assert executable == str(python)
    assert in_driver == "False"
    assert "; got none of lark, numpy, pandas, platformdirs, psutil, pyarrow, yaml on" in (
        without_packages
    )
    assert "; got: " in without_python
    assert str(nowhere) in without_python
    assert not (tmp_path / "runs" / "never").exists()
    chains = {
        "slices": Chain.of(
            Slice("all", by="case", of=ApplyFunction("ok", "x > -3"), combine="and")
        ),
        "one": ApplyFunction("x", "x") | Cumulate("total", "add"),
        "chunks": ApplyFunction("x", "x") | Window("three", n=3, of=Cumulate("sum", "add")),
        "own": Chain.of(ApplyFunction("far", "x > 2 or x < -2")),
        "here": Chain.of(ApplyFunction("near", "not (x > 2 or x < -2)")),
    }
    for name, chain in chains.items():
        run = RunRecord(tmp_path, name)
        check(run, interpret(chain, {"log": list(log.read())}, tracker=MemoryTracker()))
    cut = RunRecord(tmp_path, "slices").manifest.plan
    assert cut is not None
    assert cut.tasks == 2
    cut = RunRecord(tmp_path, "chunks").manifest.plan
    assert cut is not None
    assert cut.tasks == 2


@pytest.mark.full
def test_every_worked_case_passes_on_a_cluster(tmp_path: Path, python: Path) -> None:
    done = drive(WORKED, str(VECTORS), LOCAL_CLUSTER, python=python, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.splitlines()[-2:] == ["363 []", "200 []"]
