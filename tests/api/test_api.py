"""The whole path in a few lines of Python."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from whence.api import LoadOptions, NotLoadedWarning, Result, open_run, run
from whence.engine import Cumulate, Slice, Window
from whence.engine.errors import ChainError, ParameterError
from whence.engine.formula import formula
from whence.engine.language.chain import Chain
from whence.engine.processors import ApplyFunction
from whence.engine.record import RunRecord, list_runs
from whence.engine.runners import RunOptions
from whence.engine.sources.generate import payment_log, write_log
from whence.store import Connection, Secret, Settings
from whence.store.server import Status

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RULE = "G (p < 0 -> X (action = 'a' and X action = 'a'))"
LOG = "action,p\nb,1\nc,-2\na,0\nd,0\n"


@pytest.fixture
def rule(tmp_path: Path) -> tuple[Path, Path]:
    chain = tmp_path / "rule.yaml"
    chain.write_text(
        f'logs: {{log: {{columns: {{p: integer}}}}}}\nid: rule\nformula: "{RULE}"\n',
        encoding="utf-8",
    )
    log = tmp_path / "log.csv"
    log.write_text(LOG, encoding="utf-8")
    return chain, log


@pytest.mark.neo4j
@pytest.mark.spark
def test_ten_lines_from_a_log_to_an_answer_to_prov(
    tmp_path: Path, rule: tuple[Path, Path], graph: Connection, spark: SparkSession
) -> None:
    chain, log = rule
    result = run(chain, log, record=tmp_path / "record", connection=graph, session=spark)
    why = result.explain(result.first(False))
    assert [(e.position, e.fields) for e in why.events] == [(1, ("p",)), (3, ("action",))]
    assert [share.ranges for share in result.never_matters().certain] == [((0, 0), (2, 2))]
    assert [share.ranges for share in result.impact([2]).unaffected] == [((0, 1),)]
    document = why.to_prov()
    derived = [r for r in document.flattened().get_records() if "Derivation" in type(r).__name__]
    assert len(derived) == 2
    assert len(list(why.to_rdflib().quads())) > 4
    saved = why.save(tmp_path / "why.json")
    assert json.loads(saved.read_text(encoding="utf-8"))


@pytest.mark.neo4j
def test_a_run_is_found_again(tmp_path: Path, graph: Connection) -> None:
    chain = Window("three", n=3, of=Cumulate("product", "product"))
    made = run(chain, [3, 1, 4, 0], runner="interpreter", record=tmp_path, connection=graph)
    again = open_run(record=tmp_path, connection=graph)
    assert again.id == made.id
    assert list(again.outputs()) == [(0, 12), (1, 0)]
    assert [event.position for event in again.explain("three@1").events] == [3]


def test_without_a_graph_the_run_is_in_the_record_all_the_same(tmp_path: Path) -> None:
    result = run(Cumulate("sum", "add"), [1, 2], runner="interpreter", record=tmp_path)
    assert list(result.outputs()) == [(0, 1), (1, 3)]
    assert [event.position for event in result.explain(1).events] == [0, 1]
    with pytest.raises(ParameterError, match="expected a connection to the graph"):
        result.never_matters()
    with pytest.raises(ParameterError, match="expected one that is 99"):
        result.first(99)


def test_a_run_on_batches_is_gone_on_with_after_a_kill(tmp_path: Path) -> None:
    script = (
        "import os, signal, sys\n"
        "from whence.api import run\n"
        "from whence.engine import Cumulate, Filter\n"
        "from whence.engine.runners import RunOptions\n"
        "import whence.engine.runners.local_kernels as local\n"
        "local.run_kernels.__kwdefaults__.update(batch=100, seconds=0.0)\n"
        "def progress(event):\n"
        "    if event.stage == 'running' and event.done == 500 and len(sys.argv) > 2:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "chain = Filter('even', where='value > 3') | Cumulate('sum', 'add')\n"
        "result = run(chain, list(range(1000)), runner='local', record=sys.argv[1],\n"
        "             options=RunOptions(chunk=70), progress=progress)\n"
        "print(result.id, result.again, sum(1 for _ in result.outputs()))\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    killed = subprocess.run([*command, "kill"], cwd=tmp_path, check=False)
    assert killed.returncode == -signal.SIGKILL
    (found,) = list_runs(tmp_path)
    assert RunRecord(tmp_path, found).manifest.status == "interrupted"
    done = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert done.stdout.split() == [found, "True", "996"]
    assert list_runs(tmp_path) == [found]


def test_logs_are_named_as_the_chain_names_them(tmp_path: Path) -> None:
    chain = Chain.graph(["p", "q"], [(ApplyFunction("sum", "$0 + $1"), ["p", "q"])])
    with pytest.raises(ChainError, match="expected p, q"):
        run(chain, [1], runner="interpreter", record=tmp_path)
    logs = {"q": [10], "p": [1]}
    assert list(run(chain, logs, runner="interpreter", record=tmp_path).outputs()) == [(0, 11)]


def test_a_formula_is_a_chain(tmp_path: Path) -> None:
    events = [{"p": -1, "action": "b"}, {"p": 0, "action": "b"}, {"p": 0, "action": "b"}]
    result = run(formula(RULE), events, runner="interpreter", record=tmp_path)
    assert list(result.outputs()) == [(0, False)]


@pytest.mark.neo4j
@pytest.mark.fault
def test_a_store_that_is_away_does_not_harm_the_run(tmp_path: Path) -> None:
    nowhere = Settings("bolt://127.0.0.1:9", "neo4j", Secret.of("x"))
    with pytest.warns(NotLoadedWarning) as warned:
        result = run(
            Cumulate("sum", "add"),
            list(range(50)),
            runner="interpreter",
            record=tmp_path,
            load=LoadOptions(nowhere, "high"),
        )
    assert isinstance(result, Result)
    assert result.record.manifest.status == "complete"
    assert result.loaded is None
    assert "expected a Neo4j server at bolt://127.0.0.1:9" in str(result.not_loaded)
    (warning,) = warned
    assert warning.filename == __file__
    told = str(warning.message)
    assert told.startswith(
        f"run {result.id}: expected all of it in the graph; got it in the record"
    )
    assert "expected a Neo4j server at bolt://127.0.0.1:9" in told
    assert told.endswith(f"; try whence load {result.id} --record {tmp_path}")


@pytest.mark.neo4j
@pytest.mark.fault
def test_a_run_killed_in_the_middle_and_run_again_leaves_one_graph(
    tmp_path: Path, graph: Connection, neo4j_server: Status
) -> None:
    log = tmp_path / "payments.csv"
    write_log(payment_log(4_000), log)
    script = (
        "import sys\n"
        "from whence.api import connect, run\n"
        "from whence.engine import ApplyFunction, Slice\n"
        "from whence.engine.runners import RunOptions\n"
        "from whence.store import resolve_settings\n"
        "ok = ApplyFunction('ok', \"activity != 'x'\")\n"
        "chain = Slice('all', by='case', of=ok, combine='and')\n"
        "with connect(resolve_settings()) as connection:\n"
        "    run(chain, sys.argv[1], runner='interpreter', record=sys.argv[2],\n"
        "        connection=connection, options=RunOptions(chunk=200))\n"
    )
    environment = {
        **os.environ,
        "NEO4J_URI": str(neo4j_server.uri),
        "NEO4J_PASSWORD_FILE": str(neo4j_server.home / "password"),
    }
    command = [sys.executable, "-c", script, str(log), str(tmp_path / "record")]
    process = subprocess.Popen(command, env=environment, cwd=tmp_path)
    until = time.monotonic() + 120
    while time.monotonic() < until:
        if graph.read("MATCH (c:Chunk) RETURN count(c) AS n")[0]["n"] > 3:
            break
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert subprocess.run(command, env=environment, cwd=tmp_path, check=False).returncode == 0
    finished = open_run(record=tmp_path / "record", connection=graph)
    assert finished.record.manifest.status == "complete"
    length = finished.record.log("log").length
    counted = graph.read("MATCH (e:Input) RETURN count(e) AS n, count(DISTINCT e.key) AS keys")
    assert counted == [{"n": length, "keys": length}]
    heads = finished.explain(length - 1).count
    assert heads == payment_log(4_000).cases


def test_what_cannot_be_chosen_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="expected ends or steps"):
        RunOptions(detail="everything")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="expected spark, local or interpreter"):
        run(Slice("s", by="x", of=Cumulate("c", "add")), [], runner="flink", record=tmp_path)  # type: ignore[arg-type]
