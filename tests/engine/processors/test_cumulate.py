"""Cumulate: a fold, explained by all inputs so far or by the one that decided."""

from __future__ import annotations

import math

from tests.engine.trying import refusal, try_out
from whence.engine import Cumulate


def test_it_folds_from_the_neutral_element() -> None:
    assert try_out(Cumulate("sum", "add"), [1, 2, 3]).values == [1, 3, 6]
    assert try_out(Cumulate("all", "and"), [True, None, True]).values == [True, False, False]


def test_without_a_neutral_element_the_first_output_is_the_first_input() -> None:
    assert try_out(Cumulate("top", "max"), ["b", "a", "c"]).values == ["b", "b", "c"]


def test_a_sum_is_explained_by_all_inputs_so_far() -> None:
    tried = try_out(Cumulate("sum", "add"), [1, 2, 3])
    assert tried.explained_by == tried.supported_by == [{0}, {0, 1}, {0, 1, 2}]


def test_an_absorbing_input_alone_explains_from_there_on() -> None:
    tried = try_out(Cumulate("all", "and"), [True, False, True, False])
    assert tried.explained_by == tried.supported_by == [{0}, {1}, {1}, {1}]
    assert tried.alternatives[3] == [{1}, {3}]


def test_a_zero_alone_explains_a_product() -> None:
    tried = try_out(Cumulate("product", "product"), [2, 0, 3, 0])
    assert tried.explained_by == tried.supported_by == [{0}, {1}, {1}, {1}]
    assert tried.alternatives[3] == [{1}, {3}]


def test_a_missing_or_infinite_input_takes_that_away() -> None:
    tried = try_out(Cumulate("product", "product"), [0, None, 0])
    assert tried.values == [0, None, None]
    assert tried.explained_by == [{0}, {0, 1}, {0, 1, 2}]
    tried = try_out(Cumulate("product", "product"), [0.0, math.inf])
    assert math.isnan(float(str(tried.values[1])))
    assert tried.explained_by == [{0}, {0, 1}]


def test_an_underflow_is_explained_by_all() -> None:
    tried = try_out(Cumulate("product", "product"), [1e-200, 1e-200])
    assert tried.values[1] == 0
    assert tried.explained_by[1] == {0, 1}


def test_the_attaining_input_explains_an_extreme_and_all_support_it() -> None:
    tried = try_out(Cumulate("low", "min"), [3, 1, 2, 1])
    assert tried.values == [3, 1, 1, 1]
    assert tried.explained_by == [{0}, {1}, {1}, {1}]
    assert tried.supported_by == [{0}, {0, 1}, {0, 1, 2}, {0, 1, 2, 3}]
    assert tried.alternatives[3] == [{1}, {3}]


def test_a_missing_input_makes_an_extreme_missing_for_good() -> None:
    tried = try_out(Cumulate("low", "min"), [3, None, 1])
    assert tried.values == [3, None, None]
    assert tried.explained_by == [{0}, {0, 1}, {0, 1, 2}]


def test_a_start_value_explains_nothing() -> None:
    tried = try_out(Cumulate("low", "min", start=2), [3, 2, 1])
    assert tried.values == [2, 2, 1]
    assert tried.explained_by == [set(), set(), {2}]
    absorbing = try_out(Cumulate("all", "and", start=False), [True, False])
    assert absorbing.values == [False, False]
    assert absorbing.explained_by == absorbing.supported_by == [set(), set()]


def test_bad_parameters_are_refused() -> None:
    assert refusal(lambda: Cumulate("c", "not")).startswith("Cumulate 'c': expected a function of")
    assert refusal(lambda: Cumulate("c", "nonsense")).startswith("a function: expected a known")
    assert refusal(lambda: Cumulate("c", 3)).startswith("Cumulate 'c': expected a function or its")  # type: ignore[arg-type]
    assert refusal(lambda: Cumulate("c", "and", start=3)) == (
        "Cumulate 'c': expected a boolean to start with; got 3; try start=True"
    )
