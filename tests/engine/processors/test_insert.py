"""Insert: a value n times, before any input; then the input."""

from __future__ import annotations

from tests.engine.trying import refusal, try_out
from whence.engine import ApplyFunction, Cumulate, Insert, Slice

LETTERS = ["a", "b", None, "d", "e"]


def test_what_comes_out() -> None:
    assert try_out(Insert("before", n=2, value="-"), LETTERS).values == [
        "-",
        "-",
        "a",
        "b",
        None,
        "d",
        "e",
    ]


def test_each_output_is_explained_and_supported_by_its_original() -> None:
    tried = try_out(Insert("before", n=2, value="-"), LETTERS)
    assert tried.explained_by == tried.supported_by == [set(), set(), {0}, {1}, {2}, {3}, {4}]
    assert tried.open == set()


def test_the_values_come_before_any_input() -> None:
    assert try_out(Insert("before", n=2, value=None), []).values == [None, None]
    assert try_out(Insert("before", n=2, value=0), [7]).moments == [-1, -1, 0]


def test_inside_a_slice_each_slice_begins_with_them() -> None:
    inner = ApplyFunction("x", "x") | Insert("before", n=1, value=10) | Cumulate("sum", "add")
    log = [{"k": "a", "x": 1}, {"k": "b", "x": 2}, {"k": "a", "x": 3}]
    tried = try_out(Slice("per", by="k", of=inner, combine="add"), log)
    assert tried.values == [11, 23, 26]


def test_bad_parameters_are_refused() -> None:
    assert refusal(lambda: Insert("before", n=-1, value=0)) == (
        "Insert 'before': expected n >= 0; got -1; try n=1 to see the previous event"
    )
