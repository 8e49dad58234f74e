"""Slice: one P per key, and what their outputs give together."""

from __future__ import annotations

import math

import pytest

from tests.engine.examples import lifecycle
from tests.engine.trying import refusal, try_out
from whence.engine import (
    ApplyFunction,
    Chain,
    Cumulate,
    Filter,
    Passthrough,
    Slice,
    Window,
)
from whence.engine.palettes.ltl import G
from whence.engine.values.slice_map import SliceMap

X = ApplyFunction("x", "x")
LOG = [{"k": k, "x": x} for k, x in [("a", 3), ("b", 0), ("a", 5), ("c", 0)]]


def pairs(value: object) -> list[tuple[object, object]]:
    assert isinstance(value, SliceMap)
    return value.pairs()


@pytest.mark.parametrize(
    ("combine", "values", "last", "support"),
    [
        ("add", [3, 3, 5, 5], {1, 2, 3}, {1, 2, 3}),
        ("product", [3, 0, 0, 0], {1}, {1}),
        ("min", [3, 0, 0, 0], {1}, {1, 2, 3}),
        ("max", [3, 3, 5, 5], {2}, {1, 2, 3}),
        ("count", [1, 2, 2, 3], {1, 2, 3}, {1, 2, 3}),
    ],
)
def test_heads_are_combined_in_the_order_of_appearance(
    combine: str, values: list[int], last: set[int], support: set[int]
) -> None:
    tried = try_out(Slice("per", by="k", of=X, combine=combine), LOG)
    assert tried.values == values
    assert tried.explained_by[3] == last
    assert tried.supported_by[3] == support
    assert tried.open == set()


def test_a_conjunction_is_true_because_of_every_head_and_false_because_of_the_first_slice() -> None:
    ok = ApplyFunction("ok", "x > 0")
    tried = try_out(Slice("per", by="k", of=ok, combine="and"), LOG)
    assert tried.values == [True, False, False, False]
    assert tried.explained_by == tried.supported_by == [{0}, {1}, {1}, {1}]
    assert tried.alternatives[3] == [{1}, {3}]


def test_the_paper_s_lifecycle_is_explained_by_two_events_of_one_case() -> None:
    actions = [("A", "create"), ("B", "create"), ("A", "approve"), ("A", "pay"), ("C", "create")]
    log = [{"case": c, "action": a} for c, a in [*actions, ("B", "pay")]]
    tried = try_out(Slice("per", by="case", of=lifecycle(), combine="and"), log)
    assert tried.values == [True] * 5 + [False]
    assert tried.explained_by[5] == {1, 5}


def test_without_combine_it_gives_the_map_explained_by_every_slice() -> None:
    tried = try_out(Slice("per", by="k", of=X), LOG)
    assert [pairs(v) for v in tried.values] == [
        [("a", 3)],
        [("a", 3), ("b", 0)],
        [("a", 5), ("b", 0)],
        [("a", 5), ("b", 0), ("c", 0)],
    ]
    assert tried.explained_by == tried.supported_by == [{0}, {0, 1}, {1, 2}, {1, 2, 3}]


def test_missing_keys_form_a_slice_and_keys_compare_as_values() -> None:
    keys = [1, 1.0, True, None, math.nan, float("nan"), 0.0, -0.0]
    log = [*({"k": k} for k in keys), {}]
    tried = try_out(Slice("per", by="k", of=Passthrough("p"), combine="count"), log)
    assert tried.values == [1, 1, 2, 3, 4, 4, 5, 5, 5]


def test_a_list_key_sends_the_event_to_each_slice_once() -> None:
    count = ApplyFunction("one", "1") | Cumulate("n", "add")
    log = [{"k": ["a", "b", "a"]}, {"k": "a"}, {"k": []}]
    tried = try_out(Slice("per", by="k", of=count), log)
    assert [pairs(v) for v in tried.values] == [
        [("a", 1), ("b", 1)],
        [("a", 2), ("b", 1)],
        [("a", 2), ("b", 1)],
    ]


def test_silent_slices_are_left_out_and_none_at_all_is_neutral() -> None:
    positive = Filter("positive", where="x > 0") | ApplyFunction("x", "x")
    log = [{"k": "a", "x": 0}, {"k": "b", "x": 2}]
    for combine, values in [("add", [0, 2]), ("min", [None, 2]), ("count", [0, 1])]:
        tried = try_out(Slice("per", by="k", of=positive, combine=combine), log)
        assert tried.values == values
        assert tried.explained_by == [{0}, {1}]  # over none: all inputs so far
        assert tried.supported_by == [{0}, {0, 1}]  # the silent slice could change it


def test_an_irregular_p_is_supported_by_all_events_of_its_slice() -> None:
    negative = Filter("negative", where="x < 0") | ApplyFunction("ok", "x > 0")
    log = [{"k": "a", "x": -1}, {"k": "b", "x": 1}, {"k": "a", "x": 1}]
    tried = try_out(Slice("per", by="k", of=negative, combine="and"), log)
    assert tried.values == [False, False, False]
    assert tried.explained_by == [{0}, {0}, {0}]
    assert tried.supported_by == [{0}, {0}, {0, 2}]


def test_a_computed_key_is_part_of_the_support() -> None:
    tried = try_out(Slice("per", by="x > 2", of=X, combine="max"), LOG)
    assert tried.values == [3, 3, 5, 5]
    assert tried.explained_by == [{0}, {0}, {2}, {2}]
    assert tried.supported_by == [{0}, {0, 1}, {0, 1, 2}, {0, 1, 2, 3}]


def test_a_raw_key_behind_a_filter_leans_on_which_events_there_are() -> None:
    tried = try_out(Filter("some", where="x > 0") | Slice("per", by="k", of=X, combine="max"), LOG)
    assert tried.values == [3, 5]
    assert tried.supported_by == [{0}, {0, 1, 2}]


def test_take_first_keeps_the_first_output() -> None:
    assert try_out(Slice("per", by="k", of=X, combine="add", take="first"), LOG).values == [3] * 4


def test_closing_closes_every_slice_and_says_once_more() -> None:
    rule = ApplyFunction("ok", "x >= 0") | G("always")
    tried = try_out(Slice("per", by="k", of=rule, combine="and", take="first"), LOG, closed=True)
    assert tried.values == [True] * 5
    assert tried.explained_by[4] == {0, 1, 2, 3}
    undecided = try_out(Slice("per", by="k", of=rule, combine="and"), LOG)
    assert undecided.values == [True] * 4


def test_slices_of_slices_and_of_windows() -> None:
    log = [{"k": k, "x": x} for k, x in [("a", 1), ("a", 1), ("b", 1), ("a", 2)]]
    inner = Slice("by-x", by="x", of=Passthrough("p"), combine="count")
    assert try_out(Slice("per", by="k", of=inner, combine="add"), log).values == [1, 1, 2, 3]
    window = X | Window("two", n=2, of=Cumulate("sum", "add"))
    tried = try_out(Slice("per", by="k", of=window, combine="add"), log)
    assert tried.values == [0, 2, 2, 3]
    assert tried.explained_by[3] == {1, 3}


def test_with_several_pipes_the_whole_front_goes_to_the_slice() -> None:
    both = Chain.graph(["a", "b"], [(ApplyFunction("sum", "$0 + $1"), ["a", "b"])])
    chain = Slice("per", by="$1", of=both, combine="add")
    tried = try_out(chain, {"p": [1, 2, 3], "q": [10, 20, 10]})
    assert tried.values == [11, 33, 35]
    assert tried.explained_by[2] == {"p@1", "q@1", "p@2", "q@2"}


def test_bad_parameters_are_refused() -> None:
    assert refusal(lambda: Slice("per", by="k", of=X, combine="sum")) == (
        "Slice 'per': expected a known combine; got 'sum'; "
        "try add or and or count or each or max or min or or or product"
    )
    assert refusal(lambda: Slice("per", by="k", of=X, take="middle")) == (
        "Slice 'per': expected take first or last; got 'middle'; try take='last'"
    )
    assert refusal(lambda: try_out(Slice("per", by="$1", of=X), LOG)) == (
        "Slice 'per': expected pipes 0 to 0; got pipe 1; try connecting one more input"
    )
