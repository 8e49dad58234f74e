"""Freeze: input 0, once per input."""

from __future__ import annotations

from tests.engine.trying import refusal, try_out
from whence.engine import Filter, Freeze

LETTERS = ["a", "b", None, "d", "e"]


def test_what_comes_out() -> None:
    assert try_out(Freeze("first"), LETTERS).values == ["a"] * 5


def test_each_output_is_explained_and_supported_by_its_original() -> None:
    tried = try_out(Freeze("first"), LETTERS)
    assert tried.explained_by == tried.supported_by == [{0}] * 5
    assert tried.open == set()


def test_a_missing_first_event_is_kept_too() -> None:
    assert try_out(Freeze("first"), [None, 1]).values == [None, None]


def test_behind_a_filter_each_copy_leans_on_its_trigger_being_there() -> None:
    chain = Filter("keep", where="value != 'b'") | Freeze("first")
    tried = try_out(chain, ["a", "b", "c"])
    assert tried.explained_by == [{0}, {0}]
    assert tried.supported_by == [{0}, {0, 1, 2}]


def test_bad_parameters_are_refused() -> None:
    assert refusal(lambda: Freeze("a.b")).startswith("Freeze: expected an id without")
