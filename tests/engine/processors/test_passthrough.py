"""Passthrough: the input as it is."""

from __future__ import annotations

from tests.engine.trying import refusal, try_out
from whence.engine import Passthrough

LETTERS = ["a", "b", None, "d", "e"]


def test_what_comes_out() -> None:
    assert try_out(Passthrough("same"), LETTERS).values == LETTERS


def test_each_output_is_explained_and_supported_by_its_original() -> None:
    tried = try_out(Passthrough("same"), LETTERS)
    assert tried.explained_by == tried.supported_by == [{0}, {1}, {2}, {3}, {4}]
    assert tried.open == set()


def test_bad_parameters_are_refused() -> None:
    assert refusal(lambda: Passthrough("")).startswith("Passthrough: expected an id without")
