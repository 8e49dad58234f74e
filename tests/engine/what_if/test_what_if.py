"""What-if: run again with corrected values; old beside new; nothing kept unless asked for."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.engine.corruptor import Corruptor, equal
from tests.engine.examples import lifecycle
from tests.engine.random_chains import random_case, refusals_skipped
from whence.engine import ApplyFunction, Chain, Cumulate, Filter, Slice
from whence.engine.errors import WhenceError
from whence.engine.interpreter import interpret
from whence.engine.language.log import Log
from whence.engine.lineage.positions import positions
from whence.engine.record import RunRecord, ingest, list_runs
from whence.engine.runners import RunOptions, run_recorded
from whence.engine.what_if import what_if

ROWS = ["A create", "B create", "A approve", "B pay", "A pay", "A approve"]


def run_of(root: Path, chain: Any, events: list[Any], **options: Any) -> RunRecord:
    made = Chain.of(chain)
    by_case = isinstance(events[0], dict) and "case" in events[0]
    kept = ingest(root, "log", events, declared=Log(None, "case") if by_case else None)
    return run_recorded(root, made, {"log": kept}, RunOptions(**options))


@pytest.fixture
def payments(tmp_path: Path) -> RunRecord:
    events = [dict(zip(("case", "action"), row.split(), strict=True)) for row in ROWS]
    return run_of(tmp_path, Slice("ok", by="case", of=lifecycle(), combine="and"), events)


def test_old_stands_beside_new(payments: RunRecord) -> None:
    answer = what_if(payments, ["log@3.action=approve"])
    (correction,) = answer.corrections
    assert (correction.before, correction.after) == ("pay", "approve")
    (pipe,) = answer.outputs
    assert pipe.changed == ((3, 5),)
    assert [(c.position, c.before, c.after) for c in pipe.first] == [
        (at, False, True) for at in (3, 4, 5)
    ]
    assert (pipe.same, pipe.appeared, pipe.vanished, answer.count) == (3, 0, 0, 3)


def test_nothing_is_kept_unless_asked_for(payments: RunRecord) -> None:
    before = sorted(p for p in payments.root.rglob("*"))
    what_if(payments, {"log@3.action": "approve"})
    assert sorted(p for p in payments.root.rglob("*")) == before


def test_what_is_kept_is_a_run_over_a_revision(payments: RunRecord) -> None:
    answer = what_if(payments, ["3.action=approve"], keep=True)
    assert answer.kept is not None
    kept = RunRecord(payments.root, answer.kept)
    assert kept.manifest.status == "complete"
    assert kept.manifest.options.tracked
    log = kept.log("log")
    assert log.manifest.revision_of == payments.log("log").id
    assert log.manifest.case == "case"
    assert [event["action"] for event in log.read()][3] == "approve"  # type: ignore[index]
    assert sorted(list_runs(payments.root)) == sorted([payments.id, kept.id])


def test_outputs_that_appear_and_vanish_are_told(tmp_path: Path) -> None:
    record = run_of(tmp_path, Filter("big", where="value > 2"), [1, 5, 2, 7])
    (pipe,) = what_if(record, ["2=9"]).outputs
    assert [(c.how, c.position, c.before, c.after) for c in pipe.first] == [
        ("changed", 1, 7, 9),
        ("appeared", 2, None, 7),
    ]
    (pipe,) = what_if(record, ["log@1=0"], most=1).outputs
    assert (pipe.count, len(pipe.first), pipe.vanished) == (2, 1, 1)


def test_values_are_read_as_their_columns_say(tmp_path: Path) -> None:
    record = run_of(tmp_path, ApplyFunction("half", "x / 2"), [{"x": 1.5}, {"x": 3.0}])
    (pipe,) = what_if(record, ["0.x=3"]).outputs
    assert pipe.first[0].after == 1.5
    (pipe,) = what_if(record, ["0.x="]).outputs
    assert pipe.first[0].after is None
    assert what_if(record, {"0.x": 3}).outputs[0].first[0].after == 1.5


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("log@3.actoin=x", "try action (did you mean that?)"),
        ("log@3=x", "expected one of case, action; got none"),
        ("other@3.action=x", "expected one of log; got 'other'"),
        ("log@6.action=x", "expected a position, 0 to 5; got 6"),
        ("log@3.action", "try adding =VALUE"),
        ("action=x", "expected [LOG@]POSITION[.FIELD]; got 'action'"),
    ],
)
def test_what_is_no_correction_is_refused(payments: RunRecord, text: str, words: str) -> None:
    with pytest.raises(WhenceError, match=r"expected .*; got .*; try ") as caught:
        what_if(payments, [text])
    assert words in str(caught.value)


def test_a_chain_that_refuses_the_values_leaves_nothing(tmp_path: Path) -> None:
    record = run_of(tmp_path, Cumulate("sum", "add"), [1, 2])
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(WhenceError, match="with the corrected values"):
        what_if(record, {"1": 2**63 - 1}, keep=True)
    with pytest.raises(WhenceError, match="expected an integer"):
        what_if(record, ["1=two"])
    with pytest.raises(WhenceError, match="expected one correction; got two"):
        what_if(record, ["1=3", "log@1=4"])
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("seed", range(12))
def test_it_says_what_the_interpreter_says(tmp_path: Path, seed: int) -> None:
    case = random_case(seed)
    chain = case.chain()
    with refusals_skipped():
        logs = {name: ingest(tmp_path, name, case.logs[name]) for name in chain.inputs}
        record = run_recorded(tmp_path, chain, logs, RunOptions(closed=case.closed, chunk=3))
    corruptor = Corruptor(case, Random(seed))
    several = Random(seed).sample(corruptor.cells, min(3, len(corruptor.cells)))
    changed_logs, changed = corruptor.corrupt(several)
    wanted: dict[str, Any] = {
        f"{log}@{at}" + (f".{field}" if field else ""): new
        for (log, at, field), (_, new) in changed.items()
    }
    if not wanted:
        pytest.skip("nothing to change in this case")
    try:
        after = interpret(chain, changed_logs, closed=case.closed)
    except WhenceError:
        with pytest.raises(WhenceError):
            what_if(record, wanted)
        return
    before = interpret(chain, case.logs, closed=case.closed)
    for pipe in what_if(record, wanted).outputs:
        old = [o.value for o in before.of(pipe.output)]
        new = [o.value for o in after.of(pipe.output)]
        assert pipe.lengths == (len(old), len(new))
        pairs = enumerate(zip(old, new, strict=False))
        assert list(positions(pipe.changed)) == [k for k, (x, y) in pairs if not equal(x, y)]
