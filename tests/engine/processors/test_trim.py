"""Trim: the input without its first n."""

from __future__ import annotations

from tests.engine.trying import refusal, try_out
from whence.engine import Trim

LETTERS = ["a", "b", None, "d", "e"]


def test_what_comes_out() -> None:
    assert try_out(Trim("skip", n=2), LETTERS).values == [None, "d", "e"]


def test_each_output_is_explained_and_supported_by_its_original() -> None:
    tried = try_out(Trim("skip", n=2), LETTERS)
    assert tried.explained_by == tried.supported_by == [{2}, {3}, {4}]
    assert tried.open == set()


def test_more_than_there_is_leaves_nothing() -> None:
    assert try_out(Trim("skip", n=9), LETTERS).values == []
    assert try_out(Trim("skip", n=0), LETTERS).values == LETTERS


def test_bad_parameters_are_refused() -> None:
    assert refusal(lambda: Trim("skip", n=-1)) == (
        "Trim 'skip': expected n >= 0; got -1; try n=0 to drop nothing"
    )
    assert "got 1.5" in refusal(lambda: Trim("skip", n=1.5))  # type: ignore[arg-type]
