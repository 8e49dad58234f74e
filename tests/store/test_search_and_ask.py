"""Search, choices of input events, and Cypher of the user's own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.engine.examples import lifecycle
from whence.engine import Slice
from whence.engine.errors import ParameterError, StoreError
from whence.engine.language.chain import Chain, Log
from whence.engine.lineage.positions import positions
from whence.engine.record import ingest
from whence.engine.runners import RunOptions, run_recorded
from whence.engine.values.instants import parse_instant
from whence.store import Connection
from whence.store.loading import load
from whence.store.questions import (
    Selection,
    ask,
    explain,
    explain_first,
    impact,
    never_matters,
    search,
)

pytestmark = pytest.mark.neo4j

ROWS = ["A create", "B create", "A approve", "B pay", "A pay", "A approve"]


@pytest.fixture
def root(graph: Connection, tmp_path: Path) -> Path:
    """Case B pays before anybody approves; an event a day from 1 March on."""
    events = [
        dict(zip(("case", "action"), row.split(), strict=True))
        | {"n": at, "id": f"e{at}", "when": f"2026-03-0{at + 1}T10:00:00+00:00"}
        for at, row in enumerate(ROWS)
    ]
    kinds = {"case": "text", "action": "text", "n": "integer", "id": "text", "when": "instant"}
    declared = Log(kinds, case="case", activity="action", time="when", id="id")
    for event in events:
        event["when"] = parse_instant(str(event["when"]))
    log = ingest(tmp_path, "log", events, declared=declared)
    chain = Chain.of(Slice("per-case", by="case", of=lifecycle(), combine="and"))
    record = run_recorded(tmp_path, chain, {"log": log}, RunOptions(chunk=2))
    load(tmp_path, record.id, graph)
    return tmp_path


CHOICES: list[tuple[dict[str, Any], list[int]]] = [
    ({"case": "B"}, [1, 3]),
    ({"activity": "pay"}, [3, 4]),
    ({"case": "A", "activity": "approve"}, [2, 5]),
    ({"since": "2026-03-05"}, [4, 5]),
    ({"until": "2026-03-02"}, [0, 1]),
    ({"since": "2026-03-02T10:00:00Z", "until": "2026-03-03T10:00:00Z"}, [1, 2]),
    ({"where": "n > 2 and action = 'pay'"}, [3, 4]),
    ({"ids": ("e5", "e0")}, [0, 5]),
    ({"positions": {None: [(1, 4)]}, "case": "A"}, [2, 4]),
    ({"log": "log", "case": "B"}, [1, 3]),
]


@pytest.mark.parametrize(("given", "wanted"), CHOICES)
def test_input_events_are_chosen(
    graph: Connection, root: Path, given: dict[str, Any], wanted: list[int]
) -> None:
    chosen = Selection(**given)
    found = search(graph, chosen=chosen, record=root)
    assert [event.position for event in found.events] == wanted
    assert found.count == len(wanted)
    few = search(graph, chosen=chosen, most=1, record=root)
    assert (len(few.events), few.more) == (1, True)
    (share,) = impact(graph, "latest", chosen, record=root).inputs
    assert list(positions(share.ranges)) == wanted


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({}, "expected some; got no choice"),
    ({"case": "C"}, "got none by --case 'C'"),
    ({"where": "m > 2"}, "expected a field of the log; got 'm'; try one of"),
    ({"where": "n > "}, "expected"),
    ({"where": "n + 1"}, "expected a condition"),
    ({"ids": ("e9",)}, "got 'e9', which no event has"),
    ({"since": "yesterday"}, "expected an instant; got 'yesterday'"),
    ({"positions": {None: [(4, 9)]}}, "expected positions of log, 0 to 5; got 9"),
    ({"log": "lok", "case": "B"}, "expected one of log; got 'lok'"),
]


@pytest.mark.parametrize(("given", "said"), REFUSED)
def test_what_chooses_nothing_is_one_clear_line(
    graph: Connection, root: Path, given: dict[str, Any], said: str
) -> None:
    with pytest.raises((ParameterError, StoreError, ValueError), match=re.escape(said)) as caught:
        impact(graph, "latest", Selection(**given), record=root)
    assert "try" in str(caught.value)


def test_outputs_are_chosen_by_value_case_and_time(graph: Connection, root: Path) -> None:
    def first(**given: Any) -> tuple[list[int], bool]:
        found = explain_first(graph, "latest", **given, record=root)
        return [why.output.position for why in found.answers], found.more

    assert first(where="verdict = false", first=2) == ([3, 4], True)
    assert first(where="value = false", first=9) == ([3, 4, 5], False)
    assert first(at=Selection(case="A"), first=9) == ([0, 2, 4, 5], False)
    assert first(at=Selection(since="2026-03-04"), where="not verdict", first=9)[0] == [3, 4, 5]
    with pytest.raises(ParameterError, match=r"expected a name of the output; got 'verdit'; try v"):
        first(where="verdit = false")
    with pytest.raises(ParameterError, match="got none among 6 tracked outputs"):
        first(where="verdict = false", at=Selection(until="2026-03-02"))


def test_outputs_are_found_by_value(graph: Connection, root: Path) -> None:
    found = search(graph, value="false", most=2)
    assert [event.name for event in found.events] == ["per-case@3", "per-case@4"]
    assert found.more
    with_case = search(graph, value="false", chosen=Selection(case="B"))
    assert [event.name for event in with_case.events] == ["per-case@3"]
    assert search(graph, value="41").events == ()
    with pytest.raises(ParameterError, match="expected something to look for"):
        search(graph)


def test_what_never_mattered_by_case_activity_and_field(graph: Connection, root: Path) -> None:
    def groups(by: Any) -> dict[Any, tuple[int, int, int]]:
        found = never_matters(graph, "latest", by=by)
        assert found.by == by
        return {g.group: (g.certain, g.softer, g.length) for g in found.groups}

    assert groups("case") == {"A": (2, 2, 4), "B": (0, 0, 2)}
    assert groups("activity") == {"create": (0, 0, 2), "approve": (1, 1, 2), "pay": (1, 1, 2)}
    fields = groups("field")
    assert fields["n"] == fields["id"] == fields["when"] == (6, 6, 6)
    assert fields["action"][0] == 2
    given = {g.group for g in never_matters(graph, "latest", by="field").groups if g.given}
    assert given == {"case"}
    with pytest.raises(ParameterError, match="expected by case, activity or field; got 'cases'"):
        never_matters(graph, "latest", by="cases")  # type: ignore[arg-type]


def test_a_query_of_ones_own_reads_rows(graph: Connection, root: Path) -> None:
    found = ask(graph, "MATCH (e:Input) WHERE e.case = $c RETURN e.case AS c", {"c": "A"}, most=3)
    assert (found.columns, found.rows, found.more) == (("c",), (("A",),) * 3, True)
    assert not ask(graph, "MATCH (e:Input) RETURN e.case", most=6).more
    whole = ask(graph, "MATCH p = (:Output)-[:wasDerivedFrom]->() RETURN p LIMIT 1").rows
    assert isinstance(whole[0][0], list)
    assert ask(graph, "CALL db.labels() YIELD label RETURN count(label) > 3 AS some").rows
    assert ask(graph, "CALL { RETURN 1 AS one } RETURN one").rows == ((1,),)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("CREATE (n:Event {key: 1}) RETURN n", "got one that writes"),
        ("MATCH (n) DETACH DELETE n", "got one that writes"),
        ("LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line", "got LOAD CSV"),
        ("lo\\u0061d csv from 'file:///etc/passwd' as line return line", "got LOAD CSV"),
        ("CALL { LOAD CSV FROM 'http://localhost/' AS l RETURN l } RETURN l", "got LOAD CSV"),
        ("CALL dbms.listConfig() YIELD name RETURN name", "got dbms.listConfig"),
        ("CALL `dbms`.`listConfig`() YIELD name RETURN name", "got dbms.listConfig"),
        ("MATCH (n) CALL dbms.components() YIELD name RETURN n, name", "got dbms.components"),
        ("SHOW SETTINGS YIELD name RETURN name", "got ShowSettings"),
        ("MATCH (n RETURN n", "expected Cypher that the server understands"),
        ("EXPLAIN MATCH (n) RETURN n", "expected a query to run"),
    ],
)
def test_what_does_more_than_read_the_graph_is_refused(
    graph: Connection, root: Path, query: str, said: str
) -> None:
    before = graph.read("MATCH (n) RETURN count(n) AS many")
    with pytest.raises(ParameterError, match=re.escape(said)):
        ask(graph, query)
    assert graph.read("MATCH (n) RETURN count(n) AS many") == before


def test_a_query_that_takes_too_long_is_ended(graph: Connection, root: Path) -> None:
    slow = "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN count(a * b)"
    with pytest.raises(StoreError, match=r"expected an answer within 0\.5 s; got none"):
        ask(graph, slow, timeout=0.5)


def test_a_run_that_is_not_all_there_says_how_much_is(graph: Connection, root: Path) -> None:
    graph.write(
        "MATCH (c:Chunk) WHERE c.id STARTS WITH 'run/' AND c.id ENDS WITH '/per-case/2' DELETE c"
    )
    graph.write("MATCH (e:Output) WHERE e.moment > 3 DETACH DELETE e")
    graph.write("MATCH (r:Run) SET r.loaded = false")
    for question in (never_matters, lambda g, run: impact(g, run, {"log": [(3, 3)]})):
        with pytest.raises(StoreError, match="got 4 of 6 outputs of per-case; try whence load"):
            question(graph, "latest")
    with pytest.raises(StoreError, match="got 4 of 6 outputs of per-case; try whence load"):
        explain(graph, "latest", "5")
    assert explain(graph, "latest", "3").count == 2
    with pytest.raises(StoreError, match="per-case@4: expected an event that is in the graph"):
        explain_first(graph, "latest", at=Selection(since="2026-03-06"), record=root)


def test_an_untracked_run_and_an_unknown_one_are_refused(graph: Connection, root: Path) -> None:
    chain = Chain.of(Slice("per-case", by="case", of=lifecycle(), combine="and"))
    log = ingest(root, "log", [{"case": "A", "action": "create"}])
    record = run_recorded(root, chain, {"log": log}, RunOptions(tracked=False))
    load(root, record.id, graph)
    for question in (
        lambda run: explain(graph, run, "0"),
        lambda run: explain_first(graph, run, where="verdict"),
        lambda run: never_matters(graph, run),
        lambda run: impact(graph, run, {"log": [(0, 0)]}),
    ):
        with pytest.raises((StoreError, ParameterError), match="expected a tracked"):
            question(record.id)
        with pytest.raises(StoreError, match="expected one that is in the graph; got 'nothing'"):
            question("nothing")
