"""Fork: the same events on every output pipe."""

from __future__ import annotations

import pytest

from tests.engine.trying import refusal, try_out
from whence.engine import Chain, Fork


@pytest.mark.parametrize("pipe", ["both.0", "both.1", "both.2"])
def test_every_pipe_carries_the_input(pipe: str) -> None:
    tried = try_out(Chain.of(Fork("both", m=3)), ["a", None], output=pipe)
    assert tried.values == ["a", None]
    assert tried.explained_by == tried.supported_by == [{0}, {1}]
    assert tried.open == set()


def test_bad_parameters_are_refused() -> None:
    assert refusal(lambda: Fork("both", m=0)) == (
        "Fork 'both': expected 1 <= m <= 1000; got 0; try m=2 for two branches"
    )
