"""ApplyFunction: a function of each front, explained by what its rule picks."""

from __future__ import annotations

import pytest

from tests.engine.trying import refusal, try_out
from whence.engine import ApplyFunction, call, event, field

ROWS = [{"x": 3, "y": 0}, {"x": None, "y": 2}, {"x": 0, "y": 0}]


def test_it_outputs_f_of_each_event() -> None:
    assert try_out(ApplyFunction("sum", "x + y"), ROWS).values == [3, None, 0]


def test_each_output_is_explained_and_supported_by_its_front() -> None:
    tried = try_out(ApplyFunction("sum", "x + y"), ROWS)
    assert tried.explained_by == tried.supported_by == [{0}, {1}, {2}]
    assert tried.open == set()


def test_the_fields_read_are_named() -> None:
    assert try_out(ApplyFunction("sum", "x + y"), ROWS[:1]).names == [["log@0.x", "log@0.y"]]
    assert try_out(ApplyFunction("zero", "x * y"), ROWS[:1]).names == [["log@0.y"]]
    assert try_out(ApplyFunction("whole", event().is_missing()), ROWS[:1]).names == [["log@0"]]


def test_a_constant_is_explained_by_nothing() -> None:
    tried = try_out(ApplyFunction("one", call("add", 1, 0)), ["a", "b"])
    assert tried.values == [1, 1]
    assert tried.explained_by == tried.supported_by == [set(), set()]


def test_surplus_events_of_a_longer_pipe_are_never_consumed() -> None:
    tried = try_out(ApplyFunction("sum", "$0 + $1"), {"p": [1, 2, 3], "q": [10]})
    assert tried.values == [11]
    assert tried.explained_by == [{"p@0", "q@0"}]


def test_a_pipe_that_is_not_named_is_waited_for_all_the_same() -> None:
    tried = try_out(ApplyFunction("first", "$0"), {"p": [1, 2, 3], "q": ["a", "b"]})
    assert tried.values == [1, 2]
    assert tried.explained_by == [{"p@0"}, {"p@1"}]


@pytest.mark.parametrize(
    ("text", "explained", "supported", "alternatives"),
    [
        ("$0 and $1", {"p@0"}, {"p@0"}, [{"p@0"}, {"q@0"}]),
        ("$0 or $1", {"p@0", "q@0"}, {"p@0", "q@0"}, [{"p@0", "q@0"}]),
        ("$0 -> $1", {"p@0"}, {"p@0"}, [{"p@0"}]),
        ("not $0 or $1", {"p@0"}, {"p@0"}, [{"p@0"}]),
        ("if $0 then $1 else 3", {"p@0"}, {"p@0"}, [{"p@0"}]),
        ("if not $0 then $1 else 3", {"p@0", "q@0"}, {"p@0", "q@0"}, [{"p@0", "q@0"}]),
    ],
)
def test_two_false_arguments(
    text: str, explained: set[str], supported: set[str], alternatives: list[set[str]]
) -> None:
    tried = try_out(ApplyFunction("f", text), {"p": [False], "q": [False]})
    assert tried.explained_by == [explained]
    assert tried.supported_by == [supported]
    assert tried.alternatives == [alternatives]


@pytest.mark.parametrize(
    ("text", "value", "explained", "supported"),
    [
        ("$0 * $1", 0, {"p@0"}, {"p@0"}),
        ("min($0, $1)", 0, {"p@0"}, {"p@0", "q@0"}),
        ("max($0, $1)", 5, {"q@0"}, {"p@0", "q@0"}),
        ("$0 + $1", 5, {"p@0", "q@0"}, {"p@0", "q@0"}),
    ],
)
def test_zero_and_five(text: str, value: int, explained: set[str], supported: set[str]) -> None:
    tried = try_out(ApplyFunction("f", text), {"p": [0], "q": [5]})
    assert tried.values == [value]
    assert tried.explained_by == [explained]
    assert tried.supported_by == [supported]


def test_a_zero_supports_a_product_only_with_what_could_become_missing() -> None:
    could = ApplyFunction("f", "$0 * (if $1 then 1 else missing)")
    tried = try_out(could, {"p": [0], "q": [True]})
    assert tried.explained_by == [{"p@0"}]
    assert tried.supported_by == [{"p@0", "q@0"}]


def test_missing_counts_as_false_and_makes_arithmetic_missing() -> None:
    log = [{"x": None}]
    for text, value in [
        ("x + 1", None), ("x > 1", False), ("x = missing", True), ("x != 1", True),
        ("not (x = 1)", True), ("x is missing", True), ("min(x, 1)", None),
    ]:  # fmt: skip
        assert try_out(ApplyFunction("f", text), log).values == [value], text


def test_bad_parameters_are_refused() -> None:
    assert refusal(lambda: ApplyFunction("f", "x >")).startswith("formula, line 1, column 4")
    assert refusal(lambda: ApplyFunction("f", call("lt", field.x))) == (
        "function 'lt': expected 2 arguments; got 1; try adding or removing some"
    )
    assert refusal(lambda: ApplyFunction("f", field.x and field.y)).endswith(
        "try (x > 0) & (y > 0)"
    )
    assert refusal(lambda: ApplyFunction("a/b", "x")).startswith("ApplyFunction: expected an id")
