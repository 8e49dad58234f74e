"""Group: a chain as if written in its place."""

from __future__ import annotations

from tests.engine.trying import refusal, try_out
from whence.engine import Chain, Cumulate, Filter, Fork, Group, MemoryTracker, Trim, interpret

LATE = Trim("skip", n=1) | Cumulate("sum", "add")


def test_it_gives_what_its_chain_gives() -> None:
    grouped, plain = try_out(Group("late", LATE), [1, 2, None]), try_out(LATE, [1, 2, None])
    assert grouped == plain
    assert grouped.values == [2, None]


def test_inner_events_are_found_under_the_groups_name() -> None:
    tracker = MemoryTracker()
    interpret(Group("late", LATE), [1, 2, 3], tracker=tracker)
    assert tracker.explain("late/sum", 0, 1).names == ["log@1", "log@2"]
    assert "late/sum" in refusal(lambda: tracker.explain("late/smu", 0, 1))


def test_a_group_may_have_several_pipes() -> None:
    tried = try_out(Chain.of(Group("both", Chain.of(Fork("f", m=2)))), ["a"], output="both.1")
    assert tried.values == ["a"]


def test_what_is_irregular_inside_is_irregular_outside() -> None:
    tried = try_out(Group("some", Chain.of(Filter("f", where="value > 0"))), [1, -1])
    assert tried.open == {1}


def test_what_is_no_chain_is_refused() -> None:
    assert refusal(lambda: Group("g", 5)).startswith("a chain: expected a processor or a chain")  # type: ignore[arg-type]
