"""Window: a fresh P on every n consecutive events."""

from __future__ import annotations

from tests.engine.trying import refusal, try_out
from whence.engine import (
    ApplyFunction,
    Chain,
    Cumulate,
    Filter,
    Multiplex,
    Passthrough,
    Slice,
    Trim,
    Window,
)
from whence.engine.palettes.ltl import G

PRODUCT = Cumulate("product", "product")


def test_it_gives_the_last_output_of_a_fresh_p() -> None:
    tried = try_out(Window("three", n=3, of=PRODUCT), [2, 3, 4, 0, 5])
    assert tried.values == [24, 0, 0]
    assert tried.explained_by == tried.supported_by == [{0, 1, 2}, {3}, {3}]
    assert tried.open == set()


def test_a_log_shorter_than_the_window_gives_nothing() -> None:
    assert try_out(Window("three", n=3, of=PRODUCT), [2, 3]).values == []


def test_a_silent_p_is_missing_explained_by_the_whole_window() -> None:
    tried = try_out(Window("two", n=2, of=Filter("big", where="value > 9")), [1, 2, 10])
    assert tried.values == [None, 10]
    assert tried.explained_by == [{0, 1}, {2}]
    assert tried.supported_by == [{0, 1}, {1, 2}]
    assert try_out(Window("two", n=2, of=Trim("skip", n=5)), [1, 2, 3]).values == [None, None]


def test_an_irregular_p_is_supported_by_whole_events_whatever_field_is_asked() -> None:
    chain = Window("two", n=2, of=Filter("f", where="b")) | ApplyFunction("y", "y")
    tried = try_out(chain, [{"b": True, "y": 1}, {"b": False, "y": 2}])
    assert tried.values == [1]
    assert tried.names == [["log@0.b", "log@0.y"]]
    assert tried.supported_by == [{0, 1}]


def test_it_does_not_close_its_p() -> None:
    tried = try_out(Window("two", n=2, of=G("always")), [True, True, False], closed=True)
    assert tried.values == [None, False]


def test_windows_of_windows_and_of_slices() -> None:
    twice = Window("outer", n=2, of=Window("inner", n=2, of=Cumulate("sum", "add")))
    tried = try_out(twice, [1, 2, 3, 4])
    assert tried.values == [3, 5, 7]
    assert tried.explained_by[1] == {1, 2}
    count = Slice("keys", by="value", of=Passthrough("p"), combine="count")
    assert try_out(Window("three", n=3, of=count), ["a", "a", "b", "c"]).values == [2, 3]


def test_several_pipes_go_in_whole_fronts() -> None:
    both = Chain.graph(["a", "b"], [(Multiplex("mix"), ["a", "b"]), (PRODUCT, ["mix"])])
    tried = try_out(Window("two", n=2, of=both), {"p": [2, 3, 5], "q": [7, 0, 1]})
    assert tried.values == [0, 0]
    assert tried.explained_by == [{"q@1"}, {"q@1"}]


def test_bad_parameters_are_refused() -> None:
    assert refusal(lambda: Window("w", n=0, of=PRODUCT)) == (
        "Window 'w': expected n >= 1; got 0; try n=3"
    )
    assert refusal(lambda: Window("w", n=1, of=3)).startswith("a chain: expected a processor")  # type: ignore[arg-type]
