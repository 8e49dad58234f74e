"""Every question as a method of a run: the same answers as the functions of the store give."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.examples import lifecycle
from whence.api import Answer, Result, Selection, analyse, ask, open_run, run
from whence.engine import Chain, CountDecimate, Slice, Trim
from whence.engine.errors import ParameterError
from whence.engine.language.chain import Log
from whence.engine.runners import RunOptions
from whence.store import Connection

ROWS = ["A create", "B create", "A approve", "B pay", "A pay", "A approve"]
PER_CASE = Slice("per-case", by="case", of=lifecycle(), combine="and")


def run_over(rows: list[str], root: Path, graph: Connection | None) -> Result:
    events = [dict(zip(("case", "action"), row.split(), strict=True)) for row in rows]
    declared = Log({"case": "text", "action": "text"}, case="case", activity="action")
    return run(
        PER_CASE,
        events,
        declare=declared,
        runner="interpreter",
        record=root,
        connection=graph,
        options=RunOptions(witnesses="all"),
    )


@pytest.mark.neo4j
def test_every_question_is_a_method(graph: Connection, tmp_path: Path) -> None:
    result = run_over(ROWS, tmp_path, graph)
    why = result.explain(3, support=True, most=1)
    assert isinstance(why, Answer)
    assert (why.count, len(why.events), why.output.value) == (2, 1, False)

    first = result.explain_first("verdict = false", first=2)
    assert [each.output.position for each in first] == [3, 4]
    assert (len(first), first.more) == (2, True)
    by_case = result.explain_first(at=Selection(case="A"), first=9)
    assert [each.output.position for each in by_case] == [0, 2, 4, 5]
    assert not by_case.more

    groups = result.never_matters(by="case").groups
    assert {g.group: (g.certain, g.length) for g in groups} == {"A": (2, 4), "B": (0, 2)}

    touched = result.impact(Selection(case="B"))
    assert [share.ranges for share in touched.inputs] == [((1, 1), (3, 3))]
    assert result.impact([1, 3]).unaffected == touched.unaffected
    assert result.impact({"log": [1, 3]}).possibly == touched.possibly
    assert result.impact([1, 3], keys_corrupt=True).doubts == ("keys",)

    ranked = result.contribution(most=2).ranked
    assert [each.event.position for each in ranked] == [1, 0]
    responsible = result.responsibility(3)
    assert responsible.output == "per-case@3"
    assert {each.position for each in responsible.inputs} == {1, 3}

    found = result.search(Selection(activity="pay"), most=1)
    assert ([e.name for e in found.events], found.count, found.more) == (["log@3"], 2, True)
    assert result.search(value="false").events[0].name == "per-case@3"

    rows = ask(graph, "MATCH (e:Input) WHERE e.case = $c RETURN e.case", {"c": "A"}, most=3)
    assert (len(rows.rows), rows.more) == (3, True)

    legs = result.trace("log@3").down
    assert [leg.run for leg in legs] == [result.id]


@pytest.mark.neo4j
def test_runs_are_compared_and_corrected(graph: Connection, tmp_path: Path) -> None:
    old = run_over(ROWS, tmp_path, graph)
    new = run_over([*ROWS[:3], "B approve", *ROWS[4:]], tmp_path, graph)
    told = old.compare(new)
    assert told == old.compare(new.id)
    assert [(change.output, change.how) for change in told.outputs[:1]] == [("per-case", "changed")]
    corrected = old.what_if("log@3.action=approve")
    assert corrected == old.what_if({"log@3.action": "approve"})
    (pipe,) = corrected.outputs
    assert (pipe.changed, pipe.appeared, pipe.vanished) == (((3, 5),), 0, 0)
    assert corrected.kept is None
    assert old.what_if(["log@3.action=approve"], keep=True).kept is not None
    assert open_run(record=tmp_path).id != new.id


def test_what_needs_the_graph_says_so(tmp_path: Path) -> None:
    result = run_over(ROWS, tmp_path, None)
    for question in (
        lambda: result.explain_first("verdict"),
        lambda: result.never_matters(by="case"),
        lambda: result.impact([1]),
        result.contribution,
        lambda: result.responsibility(3),
        lambda: result.compare("other"),
        lambda: result.trace("log@3"),
        lambda: result.search(value="false"),
    ):
        with pytest.raises(ParameterError, match="expected a connection to the graph; got none"):
            question()
    assert result.what_if("log@3.action=approve").outputs[0].changed == ((3, 5),)


def test_a_chain_is_analysed_without_a_run(tmp_path: Path) -> None:
    found = analyse(Chain.of(Trim("late", n=2)) | CountDecimate("third", n=3))
    assert [at for at in range(9) if found.logs[0].matters(at)] == [2, 5, 8]
    file = tmp_path / "chain.yaml"
    file.write_text("{id: late, trim: 2}\n", encoding="utf-8")
    assert not analyse(file).logs[0].matters(1)
