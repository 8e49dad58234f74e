"""Options of a run are keywords too; a wrong one is named with what was perhaps meant."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from whence.api import plan, run, stream
from whence.engine import ApplyFunction, Slice
from whence.engine.errors import ParameterError
from whence.engine.formula import formula
from whence.engine.runners import RunOptions
from whence.engine.runners.options import OptionWords
from whence.engine.values.limits import RunLimits

LOG = [{"case": "a", "n": 1}, {"case": "b", "n": 0}, {"case": "a", "n": 2}]
RULE = formula("G (n > 5)")
POSITIVE = Slice("all", by="case", of=ApplyFunction("positive", "n > 0"), combine="and")
OPEN_LOG = [{"case": "a", "n": 6}, {"case": "a", "n": 7}]


@pytest.mark.parametrize("runner", ["interpreter", "local"])
def test_a_log_is_closed_by_a_keyword(tmp_path: Path, runner: Any) -> None:
    pending = run(RULE, OPEN_LOG, runner=runner, record=tmp_path)
    assert list(pending.outputs()) == []
    closed = run(RULE, OPEN_LOG, runner=runner, record=tmp_path, closed=True)
    assert [value for _, value in closed.outputs()] == [True, True]
    whole = run(RULE, OPEN_LOG, runner=runner, record=tmp_path, options=RunOptions(closed=True))
    assert list(whole.outputs()) == list(closed.outputs())


def test_every_option_is_a_keyword_and_kept_as_if_given_as_a_whole(tmp_path: Path) -> None:
    words = OptionWords(
        detail="steps",
        witnesses="all",
        where="value = false",
        closed=True,
        chunk=2,
        metadata={"owner": "Ann"},
        limits=RunLimits(value=1 << 20),
    )
    assert {*OptionWords.__annotations__, "tracked"} == {each.name for each in fields(RunOptions)}
    assert set(words) == set(OptionWords.__annotations__)
    one = run(POSITIVE, LOG, runner="interpreter", record=tmp_path, **words)
    two = run(POSITIVE, LOG, runner="interpreter", record=tmp_path, options=RunOptions(**words))
    assert one.record.manifest.options == two.record.manifest.options
    assert one.record.manifest.options.where == "value = false"
    assert one.record.manifest.options.limits == {"value": 1 << 20}
    assert one.record.manifest.metadata == {"owner": "Ann"}
    assert one.record.manifest.chunk == 2
    untracked = run(POSITIVE, LOG, runner="local", record=tmp_path, tracked=False, closed=True)
    assert untracked.record.manifest.options.tracked is False


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({"closd": True}, r"one that exists; got closd=; try closed= \(did you mean that\?\)"),
        ({"recrod": None}, r"got recrod=; try record= \(did you mean that\?\)"),
        ({"fulfilment": 1}, "got fulfilment=; try one of tracked, detail, witnesses, where"),
        ({"closed": "yes"}, "closed: expected True or False; got 'yes'; try True"),
        ({"where": 5}, "where: expected a formula as text; got 5; try 'value = false'"),
        ({"metadata": "Ann"}, "metadata: expected names and values; got 'Ann'"),
        ({"limits": 5}, "limits: expected RunLimits; got 5; try RunLimits"),
        ({"detail": "all"}, "detail: expected ends or steps; got 'all'; try ends"),
        (
            {"options": RunOptions(), "closed": True},
            "closed: expected False as options= says; got True; try options=RunOptions",
        ),
    ],
)
@pytest.mark.parametrize("call", [run, plan, stream])
def test_what_is_no_option_is_refused_before_anything_is_read(
    tmp_path: Path, call: Any, words: dict[str, Any], told: str
) -> None:
    place = tmp_path / "arriving"
    place.mkdir()
    with pytest.raises(ParameterError, match=told):
        call(POSITIVE, place, record=tmp_path / "record", **words)
    assert not (tmp_path / "record").exists()


def test_an_option_may_be_said_twice_if_both_say_the_same(tmp_path: Path) -> None:
    options = RunOptions(closed=True)
    found = run(POSITIVE, LOG, runner="local", record=tmp_path, options=options, closed=True)
    assert found.record.manifest.options.closed is True
