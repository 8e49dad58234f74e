"""What a run by kernels leaves on disk says the same as the interpreter's tracker."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.engine.lineage.slow_index import AssociationIndex
from tests.engine.random_chains import random_case
from tests.engine.runners._support.kernel_records import check, even, record
from whence.engine.errors import EventError, WhenceError
from whence.engine.interpreter import interpret
from whence.engine.language.chain import Chain
from whence.engine.lineage.tracker import MemoryTracker
from whence.engine.processors import ApplyFunction, Cumulate, Slice
from whence.engine.record import RunRecord, ingest
from whence.engine.record.compact import from_compact_table
from whence.engine.runners import RunOptions
from whence.engine.runners.local_kernels import run_kernels


@pytest.mark.parametrize("detail", ["ends", "steps"])
@pytest.mark.parametrize("seed", range(25))
def test_the_record_explains_and_supports_as_the_tracker_does(
    tmp_path: Path, seed: int, detail: str
) -> None:
    case = random_case(seed)
    options = RunOptions(
        detail=detail,  # type: ignore[arg-type]
        closed=case.closed,
        chunk=3 if seed % 3 else 100,
    )
    logs = even(tmp_path, case)
    fault, expected = "", None
    try:
        expected = interpret(case.chain(), logs, tracker=MemoryTracker(), closed=case.closed)
    except WhenceError as error:
        fault = str(error)
    if expected is None:
        with pytest.raises(WhenceError, match=re.escape(fault)):
            record(tmp_path, case.chain(), logs, options)
        return
    check(record(tmp_path, case.chain(), logs, options), expected)


def test_only_selected_outputs_are_tracked(tmp_path: Path) -> None:
    chain = Chain.of(ApplyFunction("ok", "value > 0"))
    options = RunOptions(where="value = false")
    run = record(tmp_path, chain, {"log": [1, -1, 2, -3]}, options)
    assert sorted(row.lo for row in run.rows()) == [1, 3]
    assert run.manifest.streams[0].tracked == 2
    assert run.manifest.streams[0].length == 4


def test_an_untracked_run_keeps_outputs_alone(tmp_path: Path) -> None:
    chain = Chain.of(Slice("all", by="case", of=ApplyFunction("ok", "x > 0"), combine="and"))
    log = [{"case": n % 3, "x": 1} for n in range(9)]
    run = record(tmp_path, chain, {"log": log}, RunOptions(tracked=False))
    assert list(run.rows()) == []
    assert [(s.name, s.length, s.tracked) for s in run.manifest.streams] == [
        ("all", 9, 0),
        ("all/end", 0, 0),
    ]


def test_a_log_without_events_leaves_a_record_without_outputs(tmp_path: Path) -> None:
    run = record(tmp_path, Chain.of(Cumulate("sum", "add")), {"log": []}, RunOptions(closed=True))
    assert run.manifest.status == "complete"
    assert run.manifest.streams[0].length == 0


def test_a_run_that_fails_says_so_and_keeps_no_state(tmp_path: Path) -> None:
    chain = Chain.of(ApplyFunction("inverse", "1 / value"))
    log = ingest(tmp_path, "log", [1, 2, 3, 4, 0, 5])
    with pytest.raises(EventError, match="inverse, position 4"):
        run_kernels(tmp_path, chain, {"log": log}, run_id="r", batch=2, seconds=0.0)
    manifest = RunRecord(tmp_path, "r").manifest
    assert manifest.status == "failed"
    assert "inverse, position 4" in str(manifest.error)
    assert [path.name for path in (tmp_path / "runs" / "r").glob("*.arrow")] == []


def test_a_prefix_of_inputs_is_one_item_a_part(tmp_path: Path) -> None:
    chain = Chain.of(Cumulate("sum", "add"))
    run = record(tmp_path, chain, {"log": list(range(1000))}, RunOptions(chunk=400), batch=1000)
    assert AssociationIndex(run.rows()).up("sum", 999) == {"log": ((0, 999),)}
    items = [
        len(from_compact_table(run.associations("sum", part.part), "sum"))
        for part in run.manifest.streams[0].associations
    ]
    assert items == [1, 1, 1]


def test_heads_of_many_slices_are_zones(tmp_path: Path) -> None:
    chain = Chain.of(Slice("all", by="case", of=ApplyFunction("ok", "x > 0"), combine="and"))
    log = [{"case": n % 50, "x": 1} for n in range(200)]
    run = record(tmp_path, chain, {"log": log}, RunOptions(chunk=64), batch=30)
    index = AssociationIndex(run.rows())
    assert index.up("all", 199) == {"log": ((150, 199),)}
    assert index.up("all", 60) == {"log": ((11, 60),)}
    zones = [row for row in run.rows() if row.kind == "zone"]
    assert len({(row.lo, row.inputs) for row in zones}) == 200
