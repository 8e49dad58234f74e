"""What is erased from a record is gone from every file of it, and nothing else is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests._support.texts_in_files import holding
from tests.engine.lineage.slow_index import AssociationIndex
from tests.engine.random_chains import random_case, refusals_skipped
from tests.engine.record.erasable import CASES, DECLARED, PER_CASE, SENTINELS, events, noted, values
from tests.exporters._support.recorded_runs import RUNS, recorded
from whence.engine import ApplyFunction, Chain
from whence.engine.errors import LogError, ParameterError
from whence.engine.kernels.state import write_state
from whence.engine.lineage.positions import Intervals, of_positions, positions
from whence.engine.record import LogRecord, RunRecord, ingest
from whence.engine.record.erasing import (
    hold_run,
    list_erasures,
    release_run,
    touched_by,
)
from whence.engine.record.manifest import write_manifest
from whence.engine.record.removing import check_removable
from whence.engine.record.verifying import verify_run
from whence.engine.runners import RunOptions, run_recorded
from whence.engine.what_if import what_if
from whence.exporters.evidence.erasing import erase, go_on, plan_case, plan_events
from whence.store.journal import note, read_journal


def rows_of(run: RunRecord) -> list[Any]:
    return sorted(run.rows(), key=repr)


def test_values_go_and_the_skeleton_stays(tmp_path: Path) -> None:
    run = noted(tmp_path)
    before, said = rows_of(run), values(run, "say")
    assert holding(tmp_path, SENTINELS)
    done = erase(plan_case(tmp_path, CASES["B"]), "request of 1 March", None)
    assert holding(tmp_path, SENTINELS) == []
    assert rows_of(run) == before
    assert values(run, "say") == [
        "erased null" if n in (1, 3) else each for n, each in enumerate(said)
    ]
    log = run.log("log")
    assert log.manifest.erased == ((1, 1), (3, 3))
    left = list(log.read())
    for n, event in enumerate(events()):
        assert left[n] == (dict.fromkeys(event) if n in (1, 3) else event)
    assert done.done is not None
    assert done.reason == "request of 1 March"
    assert set(done.logs.values()) == {((1, 1), (3, 3))}


def test_verdicts_on_others_as_well_stay_unless_they_are_meant(tmp_path: Path) -> None:
    run = recorded(tmp_path, PER_CASE, {"log": events()}, DECLARED)
    plan = plan_case(tmp_path, CASES["B"])
    # True while both go well; false from 3 on because of B alone.
    assert plan.touched.streams[run.id]["per-case"] == ((3, 5),)
    assert plan.touched.verdicts[run.id]["per-case"] == ((1, 2),)
    every = plan_case(tmp_path, CASES["B"], verdicts=True)
    assert every.touched.streams[run.id]["per-case"] == ((1, 5),)
    erase(every, "why", None)
    assert values(run, "per-case") == ["boolean true", *["erased null"] * 5]


def test_a_run_that_was_erased_from_verifies_and_says_so(tmp_path: Path) -> None:
    run = noted(tmp_path)
    done = erase(plan_case(tmp_path, CASES["B"]), "why", None)
    told = verify_run(run)
    assert told.problems == ()
    (line,) = told.erased
    assert done.id in line
    assert "2 events of its logs, 2 of its streams (why)" in line
    part = run.path("outputs", "say", 0)
    part.write_bytes(part.read_bytes() + b"x")
    assert "outputs of say, part 0: the file was changed" in verify_run(run).problems


@pytest.mark.parametrize("name", RUNS)
def test_what_follows_is_what_the_associations_say(name: str, tmp_path: Path) -> None:
    run = RUNS[name](tmp_path)
    _check_closure(run, {1, 7, 40})


@pytest.mark.parametrize("seed", range(20))
def test_what_follows_in_random_chains(seed: int, tmp_path: Path) -> None:
    case = random_case(seed)
    with refusals_skipped():
        logs = {name: ingest(tmp_path, name, case.logs[name], chunk=7) for name in case.logs}
        run = run_recorded(tmp_path, case.chain(), logs, RunOptions(chunk=7))
    _check_closure(run, {0, 2, 5})


def _check_closure(run: RunRecord, places: set[int]) -> None:
    """Every output that is explained by one of the events follows, and no other."""
    logs = {name: run.log(name) for name in run.manifest.logs}
    first, log = next(iter(logs.items()))
    meant = of_positions(at for at in places if at < log.length)
    if not meant:
        return
    touched = touched_by(run.root, {log.id: meant}, verdicts=True)
    index = AssociationIndex(run.rows())
    same = {name for name, each in logs.items() if each.id in touched.logs}
    for stream in run.manifest.streams:
        if stream.role != "output":
            continue
        wanted = set()
        for position in range(stream.length):
            reached = index.up(stream.name, position)
            hit = any(
                set(positions(reached.get(name, ()))) & set(positions(touched.logs[logs[name].id]))
                for name in same
            )
            if hit:
                wanted.add(position)
        found = touched.streams.get(run.id, {}).get(stream.name, ())
        assert set(positions(found)) == wanted, (first, stream.name)


def test_streams_and_runs_derived_from_it_go_too(tmp_path: Path) -> None:
    from whence.api import run as run_chain

    first = noted(tmp_path)
    again = Chain.of(ApplyFunction("shout", "value"))
    second = run_chain(again, f"run:{first.id}/say", runner="interpreter", record=tmp_path)
    what_if(first, ["log@0.action=approve"], keep=True)  # another version of the log
    plan = plan_events(tmp_path, first.id, {"log": ((1, 1), (3, 3))})
    assert len(plan.touched.logs) == 3
    erase(plan, "why", None)
    assert holding(tmp_path, SENTINELS) == []
    third = RunRecord(tmp_path, second.id)
    assert values(third, "shout")[1] == "erased null"
    assert values(third, "shout")[0] == 'text "private-0-remark"'


def test_what_was_not_tracked_counts_from_the_first_event_on(tmp_path: Path) -> None:
    run = noted(tmp_path, tracked=False)
    plan = plan_case(tmp_path, CASES["B"])
    assert plan.touched.untracked == {run.id: ("say",)}
    assert plan.touched.streams[run.id]["say"] == ((1, 5),)
    erase(plan, "why", None)
    assert holding(tmp_path, SENTINELS) == []


def test_some_outputs_were_tracked(tmp_path: Path) -> None:
    run = noted(tmp_path, where="value = 'private-3-remark'")
    plan = plan_case(tmp_path, CASES["B"])
    assert plan.touched.streams[run.id]["say"] == ((1, 5),)
    assert plan.touched.untracked == {run.id: ("say",)}


def test_a_hold_refuses_and_a_release_lets_go(tmp_path: Path) -> None:
    run = noted(tmp_path)
    hold_run(run, "case 12 before the court")
    with pytest.raises(LogError, match=r"legal hold; got run .* \(case 12 before the court\)"):
        erase(plan_case(tmp_path, CASES["B"]), "why", None)
    assert list_erasures(tmp_path) == []
    assert holding(tmp_path, SENTINELS)
    with pytest.raises(LogError, match="legal hold"):
        check_removable(run)
    with pytest.raises(LogError, match="expected one without a hold"):
        hold_run(run, "again")
    release_run(run)
    with pytest.raises(LogError, match="expected one that is held"):
        release_run(run)
    erase(plan_case(tmp_path, CASES["B"]), "why", None)
    assert holding(tmp_path, SENTINELS) == []


def test_nobody_is_found_in_one_line(tmp_path: Path) -> None:
    run = noted(tmp_path)
    with pytest.raises(ParameterError, match="expected a case of a log of the record"):
        plan_case(tmp_path, "nobody")
    with pytest.raises(ParameterError, match="expected a log of the run; got 'other'; try log"):
        plan_events(tmp_path, run.id, {"other": ((0, 0),)})
    with pytest.raises(ParameterError, match="below 6; got 6"):
        plan_events(tmp_path, run.id, {"log": ((6, 6),)})
    with pytest.raises(ParameterError, match="expected --case or --events; got neither"):
        go_on(tmp_path, None, None)


def test_the_journal_forgets_names_and_its_chain_holds(tmp_path: Path) -> None:
    noted(tmp_path)
    note(tmp_path, ["impact", "latest", "--case", CASES["B"]])
    note(tmp_path, ["explain", "latest", "3"])
    note(tmp_path, ["search", "latest", f"note = '{'private-3-remark'}'"])
    erase(plan_case(tmp_path, CASES["B"]), "why", None)
    assert holding(tmp_path, SENTINELS) == []
    found = read_journal(tmp_path)
    assert [each.words for each in found] == [
        *(("impact",), ("explain", "latest", "3"), ("search",))
    ]
    assert [each.erased is None for each in found] == [False, True, False]
    note(tmp_path, ["explain", "latest", "4"])
    assert len(read_journal(tmp_path)) == 4


def test_a_run_that_is_not_over_loses_its_state(tmp_path: Path) -> None:
    """As a stream leaves it that was killed: a checkpoint, a state, rows that wait, a torn file."""
    run = noted(tmp_path)
    log = run.log("log")
    write_manifest(run.folder, replace(run.manifest, status="running", ended=None))
    held = log.part(0).drop(["position"])
    stream = run.folder / "stream"
    (stream / "checkpoint").mkdir(parents=True)
    (stream / "checkpoint" / "0").write_bytes(SENTINELS[0])
    write_state(stream / "state-0000000001.arrow", {"log": {"parts": 0, "held": held}})
    (run.folder / "state.arrow").write_bytes(SENTINELS[1])
    (log.folder / ".torn.part").write_bytes(SENTINELS[2])
    (log.folder / "part-00009.parquet").write_bytes(SENTINELS[2])
    (tmp_path / "logs" / ".new.part").mkdir()
    (tmp_path / "logs" / ".new.part" / "digests.arrow").write_bytes(SENTINELS[2])
    plan = plan_case(tmp_path, CASES["B"])
    assert plan.ended == (run.id,)
    erase(plan, "why", None)
    assert holding(tmp_path, SENTINELS) == []
    now = run.manifest
    assert now.status == "failed"
    assert "begin a new run" in str(now.error)


def test_a_case_whose_events_only_wait_is_found(tmp_path: Path) -> None:
    run = noted(tmp_path)
    write_manifest(run.folder, replace(run.manifest, status="running"))
    late = run.log("log").part(0).drop(["position"]).slice(0, 1)
    late = late.set_column(late.schema.get_field_index("case"), "case", [["subject-late"]])
    (run.folder / "stream").mkdir()
    write_state(run.folder / "stream" / "state-0000000001.arrow", {"log": {"held": late}})
    erase(plan_case(tmp_path, "subject-late"), "why", None)
    assert holding(tmp_path, [b"subject-late"]) == []


def test_what_cannot_be_reached_is_told(tmp_path: Path) -> None:
    noted(tmp_path)
    note(tmp_path, ["evidence", "create", "--question", f"case {CASES['B']}", "-o", "out.zip"])
    note(tmp_path, ["explain", "latest", "3", f"--prov={CASES['B']}.json"])
    done = erase(plan_case(tmp_path, CASES["B"]), "why", None)
    told = "\n".join(done.unreached)
    for words in ("log.csv", "out.zip", "of line 2 of the journal", "whence store dump", "the id"):
        assert words in told
    assert CASES["B"] not in told


def test_a_chain_or_an_option_that_names_somebody_is_told(tmp_path: Path) -> None:
    """They stay as somebody wrote them; the line says so and does not repeat the name."""
    chain = Chain.of(ApplyFunction("is-B", f"case = '{CASES['B']}'"))
    named = recorded(tmp_path, chain, {"log": events()}, DECLARED)
    where = noted(tmp_path, where="value = 'private-3-remark'")
    done = erase(plan_case(tmp_path, CASES["B"]), "why", None)
    told = [line for line in done.unreached if "only these events have" in line]
    assert [line.partition(" name ")[0] for line in sorted(told)] == sorted(
        [f"run {named.id}: its chain", f"run {where.id}: its options"]
    )
    assert not any(each.decode() in line for line in told for each in SENTINELS)


def test_a_second_erasure_adds_to_the_first(tmp_path: Path) -> None:
    run = noted(tmp_path)
    erase(plan_case(tmp_path, CASES["B"]), "why", None)
    erase(plan_events(tmp_path, run.id, {"log": ((0, 0),)}), "because", None)
    log = LogRecord.open(run.log("log").folder)
    wanted: Intervals = ((0, 1), (3, 3))
    assert log.manifest.erased == wanted
    assert len(verify_run(run).erased) == 2
    with pytest.raises(LogError, match="3 erased events"):
        what_if(run, ["log@2.action=pay"])


@pytest.mark.full
@pytest.mark.spark
def test_a_stream_that_was_stopped_is_forgotten_with_its_checkpoint(
    tmp_path: Path, spark: Any
) -> None:
    from tests.engine.runners._support.stream_runs import DECLARED as NUMBERS
    from tests.engine.runners._support.stream_runs import EVENTS, OPTIONS, put, streamed
    from whence.engine.language.log import Log as Declared

    folder, root = tmp_path / "arriving", tmp_path / "record"
    folder.mkdir()
    events: list[dict[str, Any]] = [
        {**each, "case": f"subject-{each['case']}-Z".replace(" ", "-")} for each in EVENTS
    ]
    put(folder, "01.csv", events[:110])
    declared = Declared(columns=NUMBERS.columns, case="case", activity="act")
    later = [("02.csv", events[110:150])]
    run = streamed(root, folder, "lifecycle", OPTIONS, spark, later, declared=declared)
    assert run.manifest.status == "interrupted"
    sentinel = [events[0]["case"].encode()]
    assert any(name.startswith(f"runs/{run.id}/stream") for name, _ in holding(root, sentinel))
    done = erase(plan_case(root, events[0]["case"]), "why", None)
    assert done.ended == (run.id,)
    assert holding(root, sentinel) == []
    assert run.manifest.status == "failed"
