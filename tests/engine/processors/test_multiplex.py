"""Multiplex: the events of each front, in pipe order."""

from __future__ import annotations

from tests.engine.trying import refusal, try_out
from whence.engine import Chain, Filter, Multiplex


def test_fronts_come_out_in_pipe_order() -> None:
    tried = try_out(Multiplex("mix"), {"p": ["a", "b", "c"], "q": [1, None]})
    assert tried.values == ["a", 1, "b", None]


def test_each_output_is_explained_by_the_event_it_copies() -> None:
    tried = try_out(Multiplex("mix"), {"p": ["a", "b"], "q": [1, 2]})
    assert tried.explained_by == tried.supported_by == [{"p@0"}, {"q@0"}, {"p@1"}, {"q@1"}]
    assert tried.open == set()


def test_behind_a_filter_it_leans_on_the_whole_front_being_there() -> None:
    made = [
        (Filter("some", where="value > 0"), ["p"]),
        (Multiplex("mix"), ["some", "q"]),
    ]
    tried = try_out(Chain.graph(["p", "q"], made), {"p": [-1, 2], "q": ["a"]})
    assert tried.values == [2, "a"]
    assert tried.explained_by == [{"p@1"}, {"q@0"}]
    assert tried.supported_by == [{"p@0", "p@1"}, {"q@0", "p@0", "p@1"}]


def test_without_any_pipe_it_is_refused() -> None:
    assert refusal(lambda: Chain.graph(["p"], [(Multiplex("mix"), [])])).startswith(
        "Multiplex 'mix': expected at least 1 input; got 0"
    )
