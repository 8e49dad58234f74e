"""After an erasure a graph that is made anew is the one that was erased from, and says why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.store.loading._support.whole_graph import whole_graph
from whence.cli.app import app
from whence.engine import ApplyFunction, Chain
from whence.engine.errors import ParameterError
from whence.engine.language.chain import Log
from whence.engine.record import RunRecord, ingest
from whence.engine.record.erasing import runs as erasing_runs
from whence.engine.runners import RunOptions, run_recorded
from whence.engine.runners.local_kernels import run_kernels
from whence.exporters import save
from whence.exporters.evidence.erasing import erase, go_on, plan_case
from whence.exporters.validating import validate
from whence.store import Connection
from whence.store.care import check
from whence.store.catalog import find_run
from whence.store.loading import load
from whence.store.questions import explain, never_matters
from whence.store.questions.from_record import explain_recorded
from whence.store.server import Status

pytestmark = pytest.mark.neo4j

CASES = "ABABABBA"
LOG = [{"case": case, "x": n} for n, case in enumerate(CASES)]
DECLARED = Log({"case": "text", "x": "integer"}, case="case")


def made(root: Path, formula: str, *, kernels: bool = False, **options: Any) -> RunRecord:
    log = ingest(root, "log", LOG, declared=DECLARED, chunk=3)
    chain = Chain.of(ApplyFunction("say", formula))
    if kernels:
        return run_kernels(root, chain, {"log": log}, RunOptions(chunk=3, **options))
    return run_recorded(root, chain, {"log": log}, RunOptions(chunk=3, **options))


def events(graph: Connection) -> list[str]:
    return [node for node in whole_graph(graph)[0] if "Event" in node]


def told(graph: Connection, run: RunRecord) -> list[str]:
    """What is said of each output, from the graph and from the record alike."""
    found = []
    for position in range(len(LOG)):
        asked = []
        for from_graph in (True, False):
            try:
                why = (
                    explain(graph, run.id, str(position), record=run.root)
                    if from_graph
                    else explain_recorded(run, str(position))
                )
                asked.append(f"{why.output.kind} {why.output.value} {why.inputs}")
            except ParameterError as error:
                asked.append(str(error))
        assert asked[0] == asked[1]
        found.append(asked[0])
    return found


@pytest.mark.parametrize("kernels", [False, True])
@pytest.mark.parametrize(
    ("formula", "where"),
    [("x", "value > 3"), ("x", "value < 2"), ("1 = 1", "value"), ("1 = 1", "not value")],
)
def test_what_was_left_out_is_left_out_when_the_graph_is_made_anew(
    graph: Connection, tmp_path: Path, formula: str, where: str, kernels: bool
) -> None:
    run = made(tmp_path, formula, kernels=kernels, where=where)
    load(tmp_path, run.id, graph)
    before = told(graph, run)
    erase(plan_case(tmp_path, "B"), "why", graph)
    in_place, answers = events(graph), told(graph, run)
    never = never_matters(graph, run.id, record=tmp_path)
    for old, new in zip(before, answers, strict=True):
        # Who was asked for in vain is still, and nobody else.
        assert ("expected a tracked output" in old) == ("expected a tracked output" in new)
        assert new == old or new.startswith("erased null")
    graph.write("MATCH (n) DETACH DELETE n")
    load(tmp_path, run.id, graph)
    assert events(graph) == in_place
    assert told(graph, run) == answers
    assert never_matters(graph, run.id, record=tmp_path).certain == never.certain
    assert check(graph, tmp_path).findings == ()


def test_a_kill_between_two_parts_does_not_forget_what_was_left_out(
    graph: Connection, tmp_path: Path
) -> None:
    run = made(tmp_path, "x", where="value > 3")
    load(tmp_path, run.id, graph)
    before = told(graph, run)
    erase_part = erasing_runs._erase_part

    def killed(*arguments: Any) -> None:
        erase_part(*arguments)
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(erasing_runs, "_erase_part", killed)
        with pytest.raises(KeyboardInterrupt):
            erase(plan_case(tmp_path, "B"), "why", graph)
        with pytest.raises(KeyboardInterrupt):
            go_on(tmp_path, None, graph)
    go_on(tmp_path, None, graph)
    graph.write("MATCH (n) DETACH DELETE n")
    load(tmp_path, run.id, graph)
    for old, new in zip(before, told(graph, run), strict=True):
        assert new == old or (new.startswith("erased null") and "tracked" not in old)


def invalidated(path: Path) -> tuple[dict[str, Any], set[str]]:
    """The erasure that an export names, and the events that it invalidated."""
    assert validate(path).valid
    (bundle,) = json.loads(path.read_bytes())["bundle"].values()
    several = bundle.get("wasInvalidatedBy", {}).values()
    (activity,) = {each["prov:activity"] for each in several}
    return bundle["activity"][activity], {each["prov:entity"] for each in several}


def test_an_answer_of_the_graph_names_the_erasure_as_one_of_the_record_does(
    graph: Connection, neo4j_server: Status, tmp_path: Path
) -> None:
    root = tmp_path / "record"
    run = made(root, "x")
    load(root, run.id, graph)
    done = erase(plan_case(root, "B"), "request of 1 March", graph)
    password = str(neo4j_server.home / "password")
    server = ["--uri", str(neo4j_server.uri), "--username", "neo4j", "--password-file", password]
    of_graph, exported = tmp_path / "graph.json", tmp_path / "exported.json"
    for words in (
        ["explain", run.id, "3", "--prov", str(of_graph)],
        ["export", run.id, "--explain", "3", "-o", str(exported)],
    ):
        did = CliRunner().invoke(app, [*words, "--record", str(root), *server])
        assert did.exit_code == 0, did.stderr
    of_record = save(explain(graph, run.id, "3"), tmp_path / "record.json", about=run)
    activity, entities = invalidated(of_record)
    assert entities == {"say:e3", "log:e3"}
    assert activity["whence:reason"] == "request of 1 March"
    for path in (of_graph, exported):
        assert invalidated(path) == (activity, entities)
    # A graph that is made anew says so as well, and one without an erasure nothing.
    graph.write("MATCH (n) DETACH DELETE n")
    load(root, run.id, graph)
    (known,) = find_run(graph, run.id).erasures
    assert (known["id"], known["done"]) == (done.id, done.done)
    other = made(tmp_path / "other", "x")
    load(other.root, other.id, graph)
    assert find_run(graph, other.id).erasures == ()
