"""TurnInto: a constant for every input; only its trigger explains it."""

from __future__ import annotations

from tests.engine.trying import refusal, try_out
from whence.engine import Filter, TurnInto


def test_every_event_becomes_the_value() -> None:
    assert try_out(TurnInto("one", value=1), ["a", None]).values == [1, 1]
    assert try_out(TurnInto("none", value=None), ["a"]).values == [None]


def test_the_trigger_explains_and_nothing_is_needed() -> None:
    tried = try_out(TurnInto("one", value=1), ["a", "b"])
    assert tried.explained_by == [{0}, {1}]
    assert tried.supported_by == [set(), set()]


def test_behind_a_filter_existence_is_needed() -> None:
    tried = try_out(Filter("keep", where="value > 0") | TurnInto("one", value=1), [5, -1, 7])
    assert tried.explained_by == [{0}, {2}]
    assert tried.supported_by == [{0}, {0, 1, 2}]
    assert tried.open == {1}


def test_a_value_that_no_event_can_have_is_refused() -> None:
    assert refusal(TurnInto("odd", value=object()).parameters).startswith("a constant: expected")
