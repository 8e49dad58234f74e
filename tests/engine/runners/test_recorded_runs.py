"""What a run leaves on disk says the same as the tracker in memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.lineage.slow_index import AssociationIndex
from tests.engine.random_chains import Case, random_case
from tests.engine.runners._support.kernel_records import by_log, reached
from whence.engine.errors import EventError, WhenceError
from whence.engine.interpreter import RunResult, interpret
from whence.engine.language.chain import Chain
from whence.engine.lineage.choices import RowWitnesses
from whence.engine.lineage.positions import positions
from whence.engine.lineage.terms import flatten
from whence.engine.lineage.tracker import MemoryTracker
from whence.engine.processors import ApplyFunction, Cumulate, Filter, Slice, Window
from whence.engine.record import LogRecord, RunRecord, ingest
from whence.engine.runners import RunOptions, run_recorded
from whence.engine.values import Value
from whence.engine.values.columns import canonical, from_canonical


def record(
    root: Path, chain: Chain, logs: dict[str, list[Value]], options: RunOptions
) -> RunRecord:
    kept: dict[str, LogRecord] = {
        name: ingest(root, name, logs[name], chunk=options.chunk) for name in chain.inputs
    }
    return run_recorded(root, chain, kept, options)


def in_memory(case: Case) -> RunResult:
    return interpret(case.chain(), case.logs, tracker=MemoryTracker(), closed=case.closed)


@pytest.mark.parametrize("detail", ["ends", "steps"])
@pytest.mark.parametrize("seed", range(40))
def test_the_record_explains_and_supports_as_the_tracker_does(
    tmp_path: Path, seed: int, detail: str
) -> None:
    case = random_case(seed)
    try:
        expected = in_memory(case)
    except WhenceError:
        with pytest.raises(WhenceError):
            record(tmp_path, case.chain(), case.logs, RunOptions(closed=case.closed))
        return
    options = RunOptions(detail=detail, closed=case.closed, chunk=3)  # type: ignore[arg-type]
    run = record(tmp_path, case.chain(), case.logs, options)
    index = AssociationIndex(run.rows())
    streams = {s.name: s for s in run.manifest.streams if s.role.is_output}
    assert set(streams) == set(expected.interpreter.chain.outputs)
    for name in expected.interpreter.chain.outputs:
        stream = streams[name]
        told = [
            row
            for part in stream.outputs
            for row in run.outputs(stream.name, part.part).to_pylist()
        ]
        outputs = expected.of(name)
        assert [row["position"] for row in told] == list(range(len(outputs)))
        assert [row["moment"] for row in told] == [output.moment for output in outputs]
        assert [row["value"] for row in told] == [canonical(output.value) for output in outputs]
        for output in outputs:
            for support in (False, True):
                wanted = by_log(flatten(output.event, support=support))
                assert reached(index, stream.name, output.position, support) == wanted
        wanted = by_log(expected.interpreter.open_inputs(name))
        assert reached(index, f"{name}/end", 0, True) == wanted


def options_of(run: RunRecord) -> dict[tuple[str, int], int]:
    """How many options each choice of a run has."""
    return {
        (stream.name, row["position"]): int(row["value"])
        for stream in run.manifest.streams
        if stream.role.is_choices
        for part in stream.outputs
        for row in run.outputs(stream.name, part.part).to_pylist()
    }


@pytest.mark.parametrize("detail", ["ends", "steps"])
@pytest.mark.parametrize("seed", range(100, 118))
def test_the_record_keeps_every_alternative(tmp_path: Path, seed: int, detail: str) -> None:
    tags = ("apply", "cumulate", "window", "slice", "filter", "fork") if seed % 2 else None
    case = random_case(seed, tags) if tags else random_case(seed)
    tracker = MemoryTracker("all")
    try:
        expected = interpret(case.chain(), case.logs, tracker=tracker, closed=case.closed)
    except WhenceError:
        return
    options = RunOptions(closed=case.closed, witnesses="all", detail=detail, chunk=3)  # type: ignore[arg-type]
    run = record(tmp_path, case.chain(), case.logs, options)
    rows = list(run.rows())
    index = AssociationIndex(rows)
    witnesses = RowWitnesses([r for r in rows if r.relation != "supports"], options_of(run))
    for name in expected.interpreter.chain.outputs:
        for output in expected.of(name):
            for support in (False, True):
                wanted = by_log(flatten(output.event, support=support))
                assert reached(index, name, output.position, support) == wanted
            kept = expected.explain(output.position, name).alternatives
            sets, cut = witnesses.of(name, output.position)
            assert cut == kept.cut
            told = [{(log, p) for log, r in s.logs for p in positions(r)} for s in sets]
            assert told[0] == kept.sets[0]
            assert cut or {frozenset(one) for one in told} == set(kept.sets)


def test_alternatives_of_a_long_run_stay_few_rows(tmp_path: Path) -> None:
    """Cumulate(and) of or(p, next q) has thousands of sets of witnesses after a few events."""
    log: list[Value] = [{"p": n % 3 > 0, "q": n % 2 > 0} for n in range(300)]
    chain = Chain.of(ApplyFunction("either", "p or q") | Cumulate("all", "or"))
    options = RunOptions(witnesses="all", chunk=64)
    run = record(tmp_path, chain, {"log": log}, options)
    rows = list(run.rows())
    assert len(rows) < 8 * len(log)
    sets, cut = RowWitnesses(rows, options_of(run)).of("all", 299)
    assert (len(sets), cut) == (64, True)


def test_a_prefix_of_inputs_is_one_band(tmp_path: Path) -> None:
    chain = Chain.of(Cumulate("sum", "add"))
    run = record(tmp_path, chain, {"log": list(range(1000))}, RunOptions(chunk=400))
    bands = [row for row in run.rows() if row.kind == "band"]
    assert len(bands) <= 3
    assert all((row.a, row.sa, row.b, row.sb) == (0, 0, 0, 1) for row in bands)
    assert AssociationIndex(run.rows()).up("sum", 999) == {"log": ((0, 999),)}


def test_a_wide_window_is_a_band_that_moves_on(tmp_path: Path) -> None:
    chain = Chain.of(Window("wide", n=100, of=Cumulate("sum", "add")))
    run = record(tmp_path, chain, {"log": list(range(500))}, RunOptions())
    (band,) = list(run.rows())
    assert (band.kind, band.sa, band.a, band.sb, band.b) == ("band", 1, 0, 1, 99)


def test_a_conjunction_over_many_slices_keeps_its_heads_as_zones(tmp_path: Path) -> None:
    chain = Chain.of(Slice("all", by="case", of=ApplyFunction("ok", "x > 0"), combine="and"))
    log: list[Value] = [{"case": n % 50, "x": 1} for n in range(200)]
    run = record(tmp_path, chain, {"log": log}, RunOptions(chunk=64))
    rows = list(run.rows())
    index = AssociationIndex(rows)
    assert index.up("all", 199) == {"log": ((150, 199),)}
    assert index.up("all", 60) == {"log": ((11, 60),)}
    assert len(rows) < 4 * len(log)


def test_only_selected_outputs_are_tracked(tmp_path: Path) -> None:
    chain = Chain.of(ApplyFunction("ok", "value > 0"))
    options = RunOptions(where="value = false")
    run = record(tmp_path, chain, {"log": [1, -1, 2, -3]}, options)
    assert sorted(row.lo for row in run.rows()) == [1, 3]
    assert run.manifest.streams[0].tracked == 2


def test_a_run_that_fails_says_so_in_its_record(tmp_path: Path) -> None:
    chain = Chain.of(Cumulate("total", "add"))
    with pytest.raises(EventError):
        record(tmp_path, chain, {"log": [1, 2, "three"]}, RunOptions())
    (folder,) = (tmp_path / "runs").iterdir()
    manifest = RunRecord(tmp_path, folder.name).manifest
    assert manifest.status == "failed"
    assert "total, position 2" in str(manifest.error)


def test_the_same_log_is_kept_once(tmp_path: Path) -> None:
    events: list[Value] = [{"case": "a", "x": 1}, {"case": None, "x": 2.5}]
    first, second = (
        ingest(tmp_path, "log", events),
        ingest(tmp_path, "other", iter(events), chunk=1),
    )
    assert first.id == second.id
    assert list(first.read()) == events
    assert ingest(tmp_path, "log", [*events, {"case": "b", "x": 1}]).id != first.id
    assert len(list((tmp_path / "logs").iterdir())) == 2


@pytest.mark.parametrize("value", [None, True, 3, -2.5, "a\n'", [1, None], {"a": {"b": 2}}])
def test_values_survive_the_record(value: Value) -> None:
    assert from_canonical(canonical(value)) == value


def test_an_unknown_run_lists_those_that_are_there(tmp_path: Path) -> None:
    run = record(tmp_path, Chain.of(Filter("f", where="value > 0")), {"log": [1]}, RunOptions())
    with pytest.raises(WhenceError, match=run.id):
        RunRecord(tmp_path, "nothing")
    assert RunRecord(tmp_path, "latest").id == run.id
