"""Values: where kinds meet, times have zones, and users' code fails."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from whence.engine import (
    ApplyFunction,
    Cumulate,
    Slice,
    Window,
    call,
    field,
    function,
    interpret,
)
from whence.engine.errors import ChainError, EventError
from whence.engine.language.chain import Chain, Log
from whence.engine.lineage.tracker import MemoryTracker
from whence.engine.values import ValueFault, key_of, same

NAIVE = datetime(2026, 3, 1, 12, 0)  # noqa: DTZ001  what is refused here
AWARE = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def test_lists_are_compared_element_by_element() -> None:
    assert same([1, [2]], [1.0, [2]])
    assert not same([1], [1, 2])
    with pytest.raises(ValueFault, match="one kind"):
        same([1], [True])


def test_an_instant_without_a_zone_is_refused_wherever_it_is_compared() -> None:
    with pytest.raises(ValueFault, match="time zone"):
        same(NAIVE, AWARE)
    with pytest.raises(ValueFault, match="time zone"):
        key_of(NAIVE)
    later = ApplyFunction("later", field.a < field.b)
    with pytest.raises(EventError, match="later, position 0: expected an instant with a time zone"):
        interpret(later, [{"a": NAIVE, "b": AWARE}])
    gap = ApplyFunction("gap", field.a - field.b)
    with pytest.raises(EventError, match="gap, position 0"):
        interpret(gap, [{"a": AWARE, "b": NAIVE}])


def test_a_time_beyond_the_calendar_is_one_clear_line() -> None:
    late = ApplyFunction("late", field.at + field.wait)
    with pytest.raises(EventError, match="late, position 0: expected a time that a calendar has"):
        interpret(late, [{"at": AWARE, "wait": timedelta(days=10**8)}])


def test_durations_are_added_up() -> None:
    hour = timedelta(hours=1)
    assert interpret(Cumulate("sum", "add"), [hour, hour]).values == [hour, 2 * hour]
    per_case = Slice("sum", by="case", of=ApplyFunction("d", "d"), combine="add")
    log = [{"case": 1, "d": hour}, {"case": 2, "d": hour}]
    assert interpret(per_case, log).values == [hour, 2 * hour]


def test_a_zero_alone_supports_no_product_that_could_meet_an_infinity() -> None:
    risky = call("product", 0, call("if", field.b, float("inf"), 1))
    log = [{"b": False}]
    result = interpret(ApplyFunction("risk", risky), log, tracker=MemoryTracker())
    assert set(result.explain(0).support) == {("log", 0)}


def test_what_a_users_function_raises_is_told_with_processor_and_position() -> None:
    def broken(x: object) -> object:
        return {1: "one"}[x]  # type: ignore[index]

    apply = ApplyFunction("mine", call(function(broken), field.x))
    with pytest.raises(EventError, match="mine, position 1: expected 'broken' to take integer 2"):
        interpret(apply, [{"x": 1}, {"x": 2}])


def test_an_error_inside_a_window_names_the_window_and_the_event_in_it() -> None:
    window = Window("three", n=3, of=Cumulate("total", "add"))
    with pytest.raises(EventError, match="three/total, event 2 of the window at position 39:"):
        interpret(window, [*range(41), "x", 1])


def test_a_misfit_inside_a_slice_is_found_before_any_event_with_the_way_to_it() -> None:
    chain = Chain.of(Slice("s", by="case", of=ApplyFunction("big", "x > 5"), combine="and"))
    declared = Chain(
        chain.inputs, chain.connections, chain.outputs, {"log": Log({"case": "text", "x": "text"})}
    )
    with pytest.raises(ChainError, match="Slice 's': ApplyFunction 'big': expected two values"):
        declared.check()


def test_a_log_that_is_none_is_refused() -> None:
    with pytest.raises(ChainError, match="expected events; got integer 5"):
        interpret(Cumulate("sum", "add"), 5)  # type: ignore[arg-type]
