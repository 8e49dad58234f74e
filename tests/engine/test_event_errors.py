"""Bad events: the error names the processor and the position, in three parts, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from whence.engine import (
    ApplyFunction,
    Chain,
    Cumulate,
    Filter,
    MemoryTracker,
    Passthrough,
    Slice,
    Tracker,
    Trim,
    interpret,
)
from whence.engine.errors import EventError
from whence.engine.language.processor import Processor
from whence.engine.palettes.fsm import MooreMachine
from whence.engine.palettes.ltl import G

NUMBERS: list[Any] = [*range(41), "forty-one", 42]
CASES = [{"case": n % 3, "x": x} for n, x in enumerate(NUMBERS)]
TRACKERS: list[Callable[[], Tracker | None]] = [lambda: None, MemoryTracker]


def fault(chain: Chain | Processor, log: list[Any], tracker: Tracker | None = None) -> str:
    with pytest.raises(EventError) as caught:
        interpret(chain, log, tracker=tracker)
    message = str(caught.value)
    assert "\n" not in message
    assert [part in message for part in (": expected ", "; got ", "; try ")] == [True] * 3
    return message


@pytest.mark.parametrize("tracker", TRACKERS, ids=["untracked", "tracked"])
def test_a_wrong_type_at_position_41_of_total_says_exactly_that(
    tracker: Callable[[], Tracker | None],
) -> None:
    expected = (
        "total, position 41: expected a number; got text 'forty-one'; "
        "try declaring the column's type, e.g. --type NAME=integer"
    )
    assert fault(Cumulate("total", "add"), NUMBERS, tracker()) == expected
    line = Passthrough("same") | Cumulate("total", "add") | Trim("late", n=50)
    assert fault(line, NUMBERS, tracker()) == expected


def test_the_position_is_that_of_the_processor_that_fails() -> None:
    line = Trim("skip", n=1) | Cumulate("total", "add")
    assert fault(line, NUMBERS).startswith("total, position 40: ")


@pytest.mark.parametrize("tracker", TRACKERS, ids=["untracked", "tracked"])
def test_inside_a_slice_the_position_of_the_whole_stream_is_named(
    tracker: Callable[[], Tracker | None],
) -> None:
    per_case = Slice("per-case", by="case", of=ApplyFunction("x", "x") | Cumulate("total", "add"))
    assert fault(per_case, CASES, tracker()).startswith("per-case/total, position 41: ")


def test_inside_a_slice_of_slices_too() -> None:
    inner = Slice("by-x", by="x", of=ApplyFunction("twice", "x + x"), combine="count")
    outer = Slice("per-case", by="case", of=inner)
    assert fault(outer, CASES).startswith("per-case/by-x/twice, position 41: ")


@pytest.mark.parametrize(
    ("chain", "log", "expected"),
    [
        (
            Cumulate("total", "product"),
            [2**62, 1, 2],
            "total, position 2: expected an integer of 64 bits; got 9223372036854775808",
        ),
        (
            Cumulate("total", "add"),
            [-(2**63), -1],
            "total, position 1: expected an integer of 64 bits; got -9223372036854775809",
        ),
        (
            ApplyFunction("sum", "x + y"),
            [{"x": 1, "y": 2}, {"x": 2**63 - 1, "y": 1}],
            "sum, position 1: expected an integer of 64 bits",
        ),
        (
            Cumulate("total", "product"),
            [1e308, 1.0, 10.0],
            "total, position 2: expected a finite result; got inf",
        ),
        (
            ApplyFunction("ratio", "x / y"),
            [{"x": 1, "y": 2}, {"x": 1, "y": 0}],
            "ratio, position 1: expected a divisor that is not zero; got integer 1 / 0",
        ),
        (
            Slice("per-case", by="case", of=ApplyFunction("x", "x"), combine="add"),
            [{"case": 1, "x": 2**62}, {"case": 2, "x": 2**62}],
            "per-case, position 1: expected an integer of 64 bits; got 9223372036854775808",
        ),
        (
            ApplyFunction("big", "x > 3"),
            [{"x": "4"}],
            "big, position 0: expected two values of one kind; got text '4' and integer 3",
        ),
        (
            ApplyFunction("yes", "x = 1"),
            [{"x": True}],
            "yes, position 0: expected two values of one kind; got boolean True and integer 1",
        ),
        (
            ApplyFunction("x", "x"),
            [{"x": 1}, 3],
            "x, position 1: expected a record with the field 'x'; got integer 3",
        ),
        (
            Filter("keep", where="value"),
            [True, 1],
            "keep, position 1: expected a boolean; got integer 1",
        ),
        (G("always"), [True, "yes"], "always, position 1: expected a boolean; got text 'yes'"),
        (
            MooreMachine("door", "shut", {"shut": True}, [("shut", "value = 'shut'", "shut")]),
            ["shut", "open"],
            "door, position 1: expected a transition from state 'shut'; got text 'open'",
        ),
        (
            Slice("per", by="x + 1", of=Passthrough("same")),
            [{"x": 1}, {"x": "a"}],
            "per, position 1: expected a number; got text 'a'",
        ),
    ],
)
def test_the_error_names_processor_position_and_what_came(
    chain: Chain | Processor, log: list[Any], expected: str
) -> None:
    assert fault(chain, log).startswith(expected)
    assert fault(chain, log, MemoryTracker()) == fault(chain, log)


@pytest.mark.parametrize("text", ["x + y", "x - y", "x * y", "x / y", "x * y * z"])
def test_a_wrong_type_beside_a_missing_value_is_an_error_tracked_or_not(text: str) -> None:
    log = [{"x": None, "y": "text", "z": 1}]
    message = fault(ApplyFunction("f", text), log)
    assert message.startswith("f, position 0: expected a number; got text 'text'")
    assert fault(ApplyFunction("f", text), log, MemoryTracker()) == message


def test_values_before_the_fault_came_out() -> None:
    from whence.engine import Interpreter

    interpreter = Interpreter(Cumulate("total", "add"), MemoryTracker())
    values = [o.value for x in NUMBERS[:41] for o in interpreter.feed("log", x)]
    assert values[-1] == sum(range(41))
    with pytest.raises(EventError):
        interpreter.feed("log", NUMBERS[41])
