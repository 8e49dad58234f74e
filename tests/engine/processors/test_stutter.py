"""Stutter: each input n times."""

from __future__ import annotations

from tests.engine.trying import refusal, try_out
from whence.engine import Stutter

LETTERS = ["a", "b", None, "d", "e"]


def test_what_comes_out() -> None:
    assert try_out(Stutter("echo", n=2), LETTERS).values == [
        "a",
        "a",
        "b",
        "b",
        None,
        None,
        "d",
        "d",
        "e",
        "e",
    ]


def test_each_output_is_explained_and_supported_by_its_original() -> None:
    tried = try_out(Stutter("echo", n=2), LETTERS)
    assert tried.explained_by == tried.supported_by == [{k // 2} for k in range(10)]
    assert tried.open == set()


def test_bad_parameters_are_refused() -> None:
    assert refusal(lambda: Stutter("echo", n=0)) == (
        "Stutter 'echo': expected n >= 1; got 0; "
        "try n=1 to pass each event once, or Filter to drop events"
    )
