"""A run reads another run's output stream: the same events, once, and the way leads on."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.engine.examples import lifecycle
from whence.api import Result, Runner, run
from whence.engine import ApplyFunction, Chain, Cumulate, Filter, Passthrough, Slice, Trim
from whence.engine.errors import LogError, StoreError
from whence.engine.language.log import Log
from whence.engine.language.processor import Processor
from whence.engine.record import RunRecord
from whence.engine.runners import RunOptions
from whence.store import Connection
from whence.store.care import check
from whence.store.loading import load
from whence.store.questions import contribution, explain, impact, never_matters

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = ["A create", "B create", "A approve", "B pay", "A pay", "A approve"]
EVENTS = [dict(zip(("case", "action"), row.split(), strict=True)) for row in ROWS]
PER_CASE = Chain.of(Slice("per-case", by="case", of=lifecycle(), combine="and"))
BAD_SO_FAR = ApplyFunction("bad", "not value") | Cumulate("any", "or")


def made(root: Path, chain: Chain | Processor, log: object, runner: Runner = "local") -> Result:
    return run(chain, log, runner=runner, record=root, tracked=True)


def values(found: Result) -> list[object]:
    (stream,) = found.record.manifest.outputs
    told: list[object] = found.record.outputs(stream.name, 0).column("value").to_pylist()
    return told


@pytest.mark.parametrize("runner", ["local", "interpreter"])
def test_a_run_reads_the_outputs_of_another(tmp_path: Path, runner: Runner) -> None:
    first = made(tmp_path, PER_CASE, EVENTS, runner)
    verdicts = values(first)
    assert verdicts == ["true", "true", "true", "false", "false", "false"]
    second = made(tmp_path, BAD_SO_FAR, f"run:{first.id}/per-case", runner)
    assert values(second) == ["false", "false", "false", "true", "true", "true"]
    log = second.record.log("log")
    assert log.made_by == (first.id, "per-case")
    assert log.manifest.plain
    assert list(log.columns.items()) == [("value", "boolean")]
    again = made(tmp_path, BAD_SO_FAR, f"run:{first.id}", runner)  # its only output pipe
    assert again.record.log("log").id == log.id


def test_records_become_columns(tmp_path: Path) -> None:
    keep = Chain.graph(
        ["log"],
        [
            (ApplyFunction("paid", "action = 'pay'"), ["log"]),
            (Filter("only"), ["log", "paid"]),
        ],
    )
    first = made(tmp_path, keep, EVENTS)
    second = made(tmp_path, Chain.of(ApplyFunction("who", "case")), f"run:{first.id}/only")
    assert values(second) == ['"B"', '"A"']
    assert second.record.log("log").columns == {"case": "text", "action": "text"}


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="a run: expected one of the record"):
        made(tmp_path, BAD_SO_FAR, "run:nobody/x")
    first = made(tmp_path, PER_CASE, EVENTS)
    with pytest.raises(LogError, match=r"expected a stream of the run, one of per-case; got 'x'"):
        made(tmp_path, BAD_SO_FAR, f"run:{first.id}/x")
    kept = RunRecord(tmp_path, first.id).folder / "manifest.json"
    text = kept.read_text(encoding="utf-8").replace('"complete"', '"failed"')
    kept.write_text(text, encoding="utf-8")
    with pytest.raises(LogError, match="expected a run that is complete; got one that is failed"):
        made(tmp_path, BAD_SO_FAR, f"run:{first.id}/per-case")


@pytest.mark.neo4j
def test_the_events_are_the_same_and_the_way_leads_on(graph: Connection, tmp_path: Path) -> None:
    first = made(tmp_path, PER_CASE, EVENTS)
    both = Chain.graph(
        ["verdicts", "log"],
        [
            (Cumulate("all", "and"), ["verdicts"]),
            (Passthrough("copy"), ["log"]),
        ],
    )
    logs = {"verdicts": f"run:{first.id}/per-case", "log": EVENTS}
    second = made(tmp_path, both, logs)
    report = load(tmp_path, second.id, graph)  # brings the first along
    assert report.complete
    assert graph.read("MATCH (r:Run {loaded: true}) RETURN count(r) AS n") == [{"n": 2}]
    assert graph.read("MATCH (e:Input) RETURN count(e) AS n") == [{"n": len(EVENTS)}]
    assert load(tmp_path, first.id, graph).written == 0
    assert check(graph, tmp_path).findings == ()
    # Each run answers for itself, although one walk would reach from the second into the first.
    why = explain(graph, second.id, "all@5", support=True)
    assert [(each.log, each.lo, each.hi) for each in why.inputs] == [("verdicts", 3, 3)]
    (event,) = why.events
    assert (event.log, event.position) == ("verdicts", 3)
    spoiled = impact(graph, second.id, {"log": [(3, 3)]}).possibly
    assert {share.output: share.ranges for share in spoiled} == {"all": (), "copy": ((3, 3),)}
    spoiled = impact(graph, first.id, {"log": [(3, 3)]}).possibly
    assert [share.output for share in spoiled] == ["per-case"]
    assert {share.log for share in never_matters(graph, second.id).certain} <= {"verdicts", "log"}
    # And across: one walk from the second run's output to the first run's log.
    across = """
    MATCH (s:Stream {id: $all}) MATCH (o:Event {key: s.no * 1099511627776 + 5})
    MATCH (o)-[:wasDerivedFrom*1..]->(e:Output) WITH DISTINCT e
    MATCH (p:Stream:Log {id: $made})
    RETURN e.key - p.no * 1099511627776 AS position
    """
    found = graph.read(across, all=f"{second.id}/all", made=f"{first.id}/per-case")
    assert {"position": 3} in found


@pytest.mark.neo4j
def test_a_stream_under_two_names_counts_once_whatever_its_columns_mean(
    graph: Connection, tmp_path: Path
) -> None:
    first = made(tmp_path, Chain.of(Passthrough("copy")), EVENTS)
    parts = [(Passthrough("of-p"), ["p"]), (Trim("of-q", n=4), ["q"])]
    both = Chain.graph(["p", "q"], parts)
    second = run(
        both,
        dict.fromkeys(("p", "q"), f"run:{first.id}/copy"),
        declare={"q": Log(case="action")},
        runner="local",
        record=tmp_path,
        tracked=True,
    )
    assert len(set(second.record.manifest.logs.values())) == 2
    load(tmp_path, second.id, graph)
    ranked = contribution(graph, second.id, most=len(EVENTS), record=tmp_path).ranked
    assert {each.event.position: each.outputs for each in ranked} == {
        position: 2 if position >= 4 else 1 for position in range(len(EVENTS))
    }


@pytest.mark.neo4j
def test_a_maker_that_is_nowhere_is_named(graph: Connection, tmp_path: Path) -> None:
    first = made(tmp_path, PER_CASE, EVENTS)
    second = made(tmp_path, BAD_SO_FAR, f"run:{first.id}")
    first.record.folder.rename(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match=f"expected run {first.id}, whose stream per-case it read"):
        load(tmp_path, second.id, graph)


@pytest.mark.neo4j
def test_two_runs_load_one_log_at_the_same_time(graph: Connection, tmp_path: Path) -> None:
    events = [{"case": str(n % 50), "action": "create"} for n in range(400)]
    options = RunOptions(chunk=40)
    runs = [
        run(PER_CASE, events, runner="interpreter", record=tmp_path, options=options)
        for _ in range(2)
    ]
    faults: list[BaseException] = []

    def loading(one: Result) -> None:
        try:
            assert load(tmp_path, one.id, graph).complete
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=loading, args=(one,)) for one in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert graph.read("MATCH (e:Input) RETURN count(e) AS n") == [{"n": len(events)}]
    assert check(graph, tmp_path).findings == ()


@pytest.mark.neo4j
@pytest.mark.spark
def test_spark_reads_it_as_well(graph: Connection, spark: SparkSession, tmp_path: Path) -> None:
    first = made(tmp_path, PER_CASE, EVENTS)
    again = run(BAD_SO_FAR, f"run:{first.id}", record=tmp_path, session=spark, connection=graph)
    assert values(again) == ["false", "false", "false", "true", "true", "true"]
    assert again.loaded is not None
    assert again.loaded.complete
    (why,) = explain(graph, again.id, "any@5").inputs
    assert (why.log, why.lo, why.hi) == ("log", 3, 3)
