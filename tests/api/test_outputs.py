"""Outputs in Python are what the run said: every key of a map, every field of a record."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from whence.api import run
from whence.engine import ApplyFunction, Passthrough, Slice, interpret
from whence.engine.values.slice_map import SliceMap

if TYPE_CHECKING:
    from whence.api import Runner


@pytest.mark.parametrize("runner", ["interpreter", "local"])
def test_a_map_keeps_every_key_whatever_it_is(runner: Runner, tmp_path: Path) -> None:
    log = [{"case": case, "x": n} for n, case in enumerate((1, True, "1", None, 1.0))]
    chain = Slice("last", by="case", of=ApplyFunction("x", "x"))
    result = run(chain, log, runner=runner, record=tmp_path)
    *_, (_, last) = result.outputs()
    assert isinstance(last, SliceMap)
    assert last.pairs() == [(1, 4), (True, 1), ("1", 2), (None, 3)]
    assert last[True] == 1
    assert last == interpret(chain, log).values[-1]


@pytest.mark.parametrize("runner", ["interpreter", "local"])
def test_an_absent_field_of_a_record_that_is_passed_on_is_missing(
    runner: Runner, tmp_path: Path
) -> None:
    log = [{"x": 1}, {"y": 2}, {"x": 3, "y": None}]
    whole = [{"x": 1, "y": None}, {"x": None, "y": 2}, {"x": 3, "y": None}]
    result = run(Passthrough("same"), log, runner=runner, record=tmp_path)
    assert [value for _, value in result.outputs()] == whole
    assert interpret(Passthrough("same"), log).values == whole
