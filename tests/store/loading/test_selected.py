"""Runs with ``where=``: selected outputs and what they need come in, and answers stay alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.engine.random_chains import random_case, refusals_skipped
from tests.engine.runners._support.stream_runs import CHAINS, EVENTS
from tests.store._support.runs_in_neo4j import is_pipe, record_of, some_value
from tests.store.loading._support.whole_graph import whole_graph
from whence.api import run as run_chain
from whence.engine import ApplyFunction, Chain, Cumulate, Window
from whence.engine.errors import ParameterError, StoreError, WhenceError
from whence.engine.language.log import Log
from whence.engine.progress import Progress
from whence.engine.record import RunRecord, ingest
from whence.engine.runners import RunOptions, run_recorded
from whence.engine.runners.local_kernels import run_kernels
from whence.store import Connection
from whence.store.care import check, stats
from whence.store.care.removing import remove_from_graph, sweep
from whence.store.loading import load, pieces, register
from whence.store.loading.loader import Loader
from whence.store.loading.priority import PRIORITIES
from whence.store.questions import (
    Selection,
    compare,
    contribution,
    explain,
    explain_first,
    impact,
    never_matters,
    search,
    since_event,
)

pytestmark = pytest.mark.neo4j

MAPPED = Log(None, case="case", activity="act")
WHERE = {
    "window": "value = false",
    "lifecycle": "value = false",
    "rule": "value = false",
    "nested": "value > 3",
    "filter": "value < -4",
}


def recorded(root: Path, chain: str, where: str | None, chunk: int = 40) -> RunRecord:
    made = Chain.of(CHAINS[chain]())
    log = ingest(root, "log", EVENTS, declared=MAPPED, chunk=30)
    options = RunOptions(where=where, chunk=chunk)
    return run_kernels(root, made, {made.inputs[0]: log}, options, batch=50)


def emptied(graph: Connection) -> None:
    graph.write("MATCH (n) DETACH DELETE n")


@dataclass(frozen=True)
class Answers:
    """Asks a run everything, and forgets only how it was asked."""

    graph: Connection
    root: Path
    run: str

    def every(self) -> list[Any]:
        (pipe,) = (s for s in RunRecord(self.root, self.run).manifest.streams if is_pipe(s))
        step = max(1, pipe.length // 14)
        asked: list[Any] = [self._of(at, pipe.name) for at in range(0, pipe.length, step)]
        record = self.root
        log = next(iter(RunRecord(self.root, self.run).manifest.logs))
        last = RunRecord(self.root, self.run).log(log).length - 1
        for start in ([(0, 0)], [(last // 2, last // 2 + 1)], [(last // 3, last)]):
            asked.append(impact(self.graph, self.run, {log: start}, record=record))
        asked.append(never_matters(self.graph, self.run, record=record))
        asked.append(contribution(self.graph, self.run, record=record))
        asked.append(self._try(lambda: explain_first(self.graph, self.run, first=3, record=record)))
        return [_without_queries(each) for each in asked]

    def of_cases(self) -> list[Any]:
        """What goes by the columns of a log that is not all there."""
        record = self.root
        case = Selection(case="case 4")
        asked: list[Any] = [
            impact(self.graph, self.run, case, record=record),
            never_matters(self.graph, self.run, by="case", record=record),
            never_matters(self.graph, self.run, by="activity", record=record),
            search(self.graph, self.run, Selection(case="case 5", activity="b"), record=record),
            self._try(lambda: explain_first(self.graph, self.run, at=case, first=9, record=record)),
        ]
        return [_without_queries(each) for each in asked]

    def _of(self, at: int, pipe: str) -> Any:
        def ask() -> Any:
            why = explain(self.graph, self.run, f"{pipe}@{at}", support=True, record=self.root)
            return why, since_event(self.graph, why)

        return self._try(ask)

    def _try(self, ask: Callable[[], Any]) -> Any:
        try:
            return ask()
        except ParameterError as error:
            return str(error)


def _without_queries(answer: Any) -> Any:
    if isinstance(answer, tuple):
        return tuple(_without_queries(each) for each in answer)
    if hasattr(answer, "answers"):
        return _without_queries(answer.answers), answer.more
    if not hasattr(answer, "cypher"):
        return answer
    kept = replace(answer, cypher={})
    # Bands are cut where what they speak of is not all there; what they lead to is compared.
    return (
        replace(kept, derivations=(), support_derivations=()) if hasattr(kept, "output") else kept
    )


def assert_same_answers(
    graph: Connection, root: Path, run: str, monkeypatch: pytest.MonkeyPatch, *, cases: bool = True
) -> None:
    """Loaded with everything, and loaded as selected."""
    told = []
    for whole in (True, False):
        emptied(graph)
        with monkeypatch.context() as patch:
            if whole:
                patch.setattr(register, "is_selected", lambda manifest: False)
            assert load(root, run, graph).complete
        assert check(graph, root).findings == ()
        asked = Answers(graph, root, run)
        told.append(asked.every() + (asked.of_cases() if cases else []))
        told[-1].append(None)
    for one, other in zip(*told, strict=True):
        assert one == other


@pytest.mark.parametrize(
    "chain",
    [
        *("lifecycle", "filter"),
        *(pytest.param(name, marks=pytest.mark.full) for name in ("window", "rule")),
    ],
)
def test_every_answer_is_that_of_the_whole_graph(
    graph: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chain: str
) -> None:
    run = recorded(tmp_path, chain, WHERE[chain])
    assert_same_answers(graph, tmp_path, run.id, monkeypatch)


def test_selected_outputs_that_lean_on_the_heads_of_slices_bring_them(
    graph: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = recorded(tmp_path, "nested", "value > 3")
    assert_same_answers(graph, tmp_path, run.id, monkeypatch)
    assert graph.read("MATCH (e:Event:Span) RETURN count(e) AS n")[0]["n"] > 0
    graph.write("MATCH (e:Event:Span) WITH e LIMIT 1 SET e.lo = e.lo + 1")
    assert [found.kind for found in check(graph, tmp_path).findings] == ["heads"]


def cases() -> Iterator[Any]:
    for seed in range(200):
        # In 41 an end refers to a part that comes after it.
        marks = [] if seed in (0, 3, 5, 7, 41) else [pytest.mark.full]
        yield pytest.param(seed, marks=marks)


@pytest.mark.parametrize("seed", list(cases()))
def test_random_chains_give_the_same_answers(
    graph: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    case = random_case(seed)
    whole = RunOptions(detail="steps" if seed % 3 else "ends", closed=case.closed)
    with refusals_skipped():
        run = record_of(tmp_path / "whole", case.chain(), case.logs, whole)
    where = some_value(run)
    if where is None:
        pytest.skip("no output to select")
    options = replace(whole, where=where, chunk=3 if seed % 2 else 100)
    try:
        run = record_of(tmp_path, case.chain(), case.logs, options)
    except WhenceError as error:
        if "expected two values of one kind" not in str(error):
            raise
        pytest.skip(f"the outputs are of several kinds: {error}")
    pipes = [s for s in run.manifest.streams if is_pipe(s)]
    if len(pipes) == 1 and len(run.manifest.logs) == 1:
        assert_same_answers(graph, tmp_path, run.id, monkeypatch, cases=False)
        return
    for selected in (False, True):
        emptied(graph)
        with monkeypatch.context() as patch:
            if not selected:
                patch.setattr(register, "is_selected", lambda manifest: False)
            assert load(tmp_path, run.id, graph).complete
        assert check(graph, tmp_path).findings == ()


def counted(graph: Connection) -> tuple[int, int]:
    (row,) = graph.read("MATCH (e:Event) RETURN count(e) AS events, sum(COUNT {(e)--()}) AS ends")
    return row["events"], row["ends"]


def test_what_comes_in_goes_with_what_was_selected(graph: Connection, tmp_path: Path) -> None:
    zeros = (700, 3_000, 3_001, 7_999)
    values = [0 if n in zeros else 1 for n in range(8_000)]
    three = Window("three", n=3, of=Cumulate("product", "product"))
    chain = Chain.of(three | ApplyFunction("not-zero", "value != 0"))
    log = ingest(tmp_path, "log", values, chunk=500)
    options = RunOptions(where="value = false", chunk=500)
    run = run_kernels(tmp_path, chain, {chain.inputs[0]: log}, options, batch=1000)
    report = load(tmp_path, run.id, graph)
    assert report.complete
    outputs = sum(1 for at in range(7_998) if 0 in values[at : at + 3])
    # Four of sixteen parts have any; an output leads to its zero, two of them to either.
    assert (report.parts, report.written, report.events) == (4, 4, outputs)
    assert counted(graph)[0] == outputs + len(zeros)
    assert load(tmp_path, run.id, graph).written == 0
    assert check(graph, tmp_path).findings == ()
    (of_run, of_log) = stats(graph, tmp_path).shares
    assert (of_run.nodes, of_log.nodes) == (outputs, len(zeros))
    with pytest.raises(ParameterError, match="not-zero@5: expected a tracked output"):
        explain(graph, run.id, "5")


def test_many_inputs_of_few_outputs_come_in_pieces(
    graph: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pieces, "MERGED_AT_ONCE", 16)
    chain = Chain.of(Window("wide", n=50, of=Cumulate("sum", "add")))
    run = record_of(tmp_path, chain, {"log": [1] * 70}, RunOptions(where="value > 40"))
    assert load(tmp_path, run.id, graph).complete
    assert check(graph, tmp_path).findings == ()
    assert counted(graph)[0] == 70 + 21
    assert explain(graph, run.id, "3").count == 50
    graph.write("MATCH (e:Input) WITH e LIMIT 1 DETACH DELETE e")
    assert "events of logs; got" in str(check(graph, tmp_path).findings[0])
    remove_from_graph(graph, run.id)
    sweep(graph)
    assert counted(graph) == (0, 0)


def test_inputs_are_shared_with_other_runs_and_stay_as_long_as_one_needs_them(
    graph: Connection, tmp_path: Path
) -> None:
    whole = recorded(tmp_path, "window", None)
    some = recorded(tmp_path, "lifecycle", "value = false")
    other = recorded(tmp_path, "rule", "value = false")
    runs = {"whole": whole.id, "some": some.id, "other": other.id}
    alone = {}
    for name in ("some", "other"):
        emptied(graph)
        load(tmp_path, runs[name], graph)
        alone[name] = keys(graph)
    for first, last in (("whole", "some"), ("some", "whole"), ("other", "some")):
        emptied(graph)
        for name in (first, last):
            assert load(tmp_path, runs[name], graph).complete
            assert check(graph, tmp_path).findings == ()
        assert len(keys(graph)) == len(set(keys(graph)))
        remove_from_graph(graph, runs[first])
        assert check(graph, tmp_path).findings != ()
        sweep(graph)
        assert check(graph, tmp_path).findings == ()
        # A log that was loaded whole stays so, as long as a run reads it.
        assert keys(graph) == (alone[last] if first == "other" else list(range(len(EVENTS))))
    assert load(tmp_path, runs["other"], graph).complete
    remove_from_graph(graph, runs["some"])
    graph.write("MATCH (r:Run {id: $id}) SET r.loaded = false", id=runs["other"])
    sweep(graph)  # somebody is being loaded, who may be about to need them
    assert graph.read("MATCH (d:Doomed) WHERE d.keys IS NOT NULL RETURN count(d) AS n")[0]["n"] == 1
    assert load(tmp_path, runs["other"], graph).complete
    sweep(graph)
    assert check(graph, tmp_path).findings == ()
    assert keys(graph) == alone["other"]


def keys(graph: Connection) -> list[int]:
    """The positions of the inputs."""
    rows = graph.read("MATCH (e:Input) RETURN e.key % 1099511627776 AS at ORDER BY at")
    return [row["at"] for row in rows]


def test_a_run_that_reads_what_was_not_selected_brings_it_along(
    graph: Connection, tmp_path: Path
) -> None:
    maker = recorded(tmp_path, "window", "value = false")
    chain = Chain.of(Window("two", n=2, of=Cumulate("any", "or")))
    reader = run_chain(chain, f"run:{maker.id}", runner="interpreter", record=tmp_path)
    assert load(tmp_path, reader.id, graph).complete
    assert check(graph, tmp_path).findings == ()
    with pytest.raises(ParameterError, match="expected a tracked output"):
        explain(graph, maker.id, "0")
    why = explain(graph, reader.id, "0")
    assert [(each.lo, each.hi) for each in why.inputs] == [(0, 0)]
    with pytest.raises(StoreError, match="expected no other run that reads its streams"):
        remove_from_graph(graph, maker.id)
    emptied(graph)
    load(tmp_path, maker.id, graph)
    alone = whole_graph(graph)
    load(tmp_path, reader.id, graph)
    remove_from_graph(graph, reader.id)
    sweep(graph)
    assert check(graph, tmp_path).findings == ()
    assert [node for node in whole_graph(graph)[0] if "Event" in node] == [
        node for node in alone[0] if "Event" in node
    ]


def test_outputs_that_are_not_there_are_compared_by_the_record(
    graph: Connection, tmp_path: Path
) -> None:
    runs = [recorded(tmp_path, "window", where) for where in ("value = false", None)]
    for each in runs:
        load(tmp_path, each.id, graph)
    assert compare(graph, runs[0].id, runs[1].id, record=tmp_path).outputs == ()
    with pytest.raises(ParameterError, match=r"expected its record at .*; try --record"):
        compare(graph, runs[0].id, runs[1].id, record=tmp_path / "elsewhere")


def test_a_selected_output_that_nothing_explains_is_there(
    graph: Connection, tmp_path: Path
) -> None:
    chain = Chain.of(ApplyFunction("always", "1 = 1"))
    run = record_of(tmp_path, chain, {"log": [1, 2, 3]}, RunOptions(where="value"))
    load(tmp_path, run.id, graph)
    assert explain(graph, run.id, "1").inputs == ()
    assert explain(graph, run.id, "1").output.value is True


@pytest.mark.parametrize("name", ["lifecycle", "nested"])
def test_a_run_that_goes_on_is_loaded_as_far_as_it_has_come(
    graph: Connection, tmp_path: Path, name: str
) -> None:
    """With heads that end later, in parts that were not there when their events came in."""
    log = ingest(tmp_path, "log", EVENTS, declared=MAPPED, chunk=30)
    chain = Chain.of(CHAINS[name]())
    loaders: list[Loader] = []
    parts: list[int] = []

    def progress(event: Progress) -> None:
        if event.done % 60 == 0:
            parts.append(loaders[0].catch_up(PRIORITIES["high"]).written)

    run = run_recorded(
        tmp_path,
        chain,
        {chain.inputs[0]: log},
        RunOptions(where=WHERE[name], chunk=40),
        began=lambda record: loaders.append(Loader(record, graph)),
        progress=progress,
    )
    assert load(tmp_path, run.id, graph).complete
    assert 0 < parts[1] < parts[-1]
    grown = whole_graph(graph)
    assert check(graph, tmp_path).findings == ()
    emptied(graph)
    load(tmp_path, run.id, graph)
    assert whole_graph(graph) == grown
