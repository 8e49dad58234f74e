"""CountDecimate: inputs 0, n, 2n, ..."""

from __future__ import annotations

from tests.engine.trying import refusal, try_out
from whence.engine import CountDecimate

LETTERS = ["a", "b", None, "d", "e"]


def test_what_comes_out() -> None:
    assert try_out(CountDecimate("some", n=2), LETTERS).values == ["a", None, "e"]


def test_each_output_is_explained_and_supported_by_its_original() -> None:
    tried = try_out(CountDecimate("some", n=2), LETTERS)
    assert tried.explained_by == tried.supported_by == [{0}, {2}, {4}]
    assert tried.open == set()


def test_bad_parameters_are_refused() -> None:
    assert refusal(lambda: CountDecimate("some", n=0)) == (
        "CountDecimate 'some': expected n >= 1; got 0; try n=1 to pass every event"
    )
    assert "got True" in refusal(lambda: CountDecimate("some", n=True))
