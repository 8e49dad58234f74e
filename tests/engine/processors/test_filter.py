"""Filter: input 0 where input 1 is true; which event is the k-th rests on earlier conditions."""

from __future__ import annotations

from tests.engine.trying import refusal, try_out
from whence.engine import ApplyFunction, Filter

EVENTS = {"e": ["a", "b", "c", "d"], "c": [True, False, None, True, True]}


def test_events_pass_where_the_condition_is_true() -> None:
    assert try_out(Filter("keep"), EVENTS).values == ["a", "d"]


def test_event_and_condition_explain_and_earlier_conditions_support() -> None:
    tried = try_out(Filter("keep"), EVENTS)
    assert tried.explained_by == [{"e@0", "c@0"}, {"e@3", "c@3"}]
    assert tried.supported_by == [{"e@0", "c@0"}, {"e@3", "c@0", "c@1", "c@2", "c@3"}]


def test_conditions_that_were_not_true_are_open() -> None:
    assert try_out(Filter("keep"), EVENTS).open == {"c@1", "c@2"}


def test_with_where_the_condition_is_of_the_event_itself() -> None:
    tried = try_out(Filter("positive", where="value > 0"), [3, -1, None, 5])
    assert tried.values == [3, 5]
    assert tried.explained_by == [{0}, {3}]
    assert tried.supported_by == [{0}, {0, 1, 2, 3}]
    assert tried.open == {1, 2}


def test_a_field_asked_later_is_named_beside_the_field_of_the_condition() -> None:
    chain = Filter("big", where="x > 0") | ApplyFunction("y", "y")
    tried = try_out(chain, [{"x": 1, "y": 2, "z": 3}])
    assert tried.names == [["log@0.x", "log@0.y"]]


def test_bad_parameters_are_refused() -> None:
    assert refusal(lambda: Filter("keep", where="$1 > 0")) == (
        "Filter 'keep': expected a condition over one pipe; got 2; try a Filter of two pipes"
    )
    assert refusal(lambda: try_out(Filter("keep", where="3"), [1])).startswith(
        "Filter 'keep': expected a boolean condition; got integer"
    )
