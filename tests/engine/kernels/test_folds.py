"""Cumulate and Window on batches: the interpreter's totals, odd values and wide windows too."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import numpy as np
import pytest

from tests.engine.kernels.comparing import columns_of, difference
from tests.engine.random_chains import Case, random_case
from whence.engine.errors import EventError
from whence.engine.interpreter import interpret
from whence.engine.kernels.adapter import Interpreted
from whence.engine.kernels.columns.column import Column
from whence.engine.kernels.trails.reasons import Reasons
from whence.engine.kernels.trails.slot_rows import SlotRows
from whence.engine.kernels.trails.trail import Line
from whence.engine.kernels.work import KernelWork
from whence.engine.language.chain import Chain
from whence.engine.processors import ApplyFunction, Cumulate, Window

NUMBERS: dict[str, list[Any]] = {
    "integers": [0, 1, 2, 3, -1, -2],
    "no zero": [1, 2, 3, -1],
    "large": [2**31, -(2**33), 3, 2**62, 0, 1, -1, -(2**63)],
    "floats": [0.0, -0.0, 1.5, -2.0, 0.25],
    "odd floats": [0.0, 1.5, float("nan"), float("inf"), -1.0, 1e300, 5e-324],
    "missing": [0, 1, 2, None, 3, 4, 5, 6],
    "mixed": [0, 1, 1.0, 2.5, None, -0.0],
}
TIMES: list[Any] = [timedelta(seconds=k) for k in (3, 1, 4, 1)]
INSTANTS: list[Any] = [datetime(2024, 1, k, tzinfo=UTC) for k in (3, 1, 4, 1)]
FOLDS = ("add", "product", "min", "max")


def _case(tree: Any, values: list[Any], seed: int) -> Case:
    return Case(seed, tree, {"log": values}, closed=False)


def _drawn(kind: str, seed: int, count: int = 40) -> list[Any]:
    random = Random(seed)
    return [random.choice(NUMBERS[kind]) for _ in range(count)]


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("fold", FOLDS)
def test_totals_are_the_interpreters(fold: str, kind: str) -> None:
    for seed in range(5):
        told = difference(_case({"cumulate": fold}, _drawn(kind, seed, 4 + 5 * seed), seed))
        assert told is None, f"seed {seed}: {told}"
        started = {"cumulate": {"function": fold, "start": seed % 3 - 1}}
        told = difference(_case(started, _drawn(kind, seed, 4 + 5 * seed), seed))
        assert told is None, f"seed {seed} with a start value: {told}"


@pytest.mark.parametrize("n", [1, 2, 3, 7, 30])
@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("fold", FOLDS)
def test_totals_of_windows_are_the_interpreters(fold: str, kind: str, n: int) -> None:
    for seed in range(2):
        tree: Any = {"window": {"n": n, "of": {"cumulate": fold}}}
        told = difference(_case(tree, _drawn(kind, seed), seed))
        assert told is None, f"seed {seed}: {told}"


@pytest.mark.parametrize("fold", ["and", "or"])
def test_conditions_are_folded_as_the_interpreter_does(fold: str) -> None:
    for seed in range(20):
        random = Random(seed)
        rare = [True, True, True, False, None] if fold == "and" else [False, False, True, None]
        values = [random.choice(rare) for _ in range(40)]
        for start in (None, True, False):
            total: Any = fold if seed % 2 else {"function": fold, "start": start}
            for tree in ({"cumulate": total}, {"window": {"n": 5, "of": {"cumulate": total}}}):
                told = difference(_case(tree, values, seed))
                assert told is None, f"seed {seed}, {tree}: {told}"


@pytest.mark.parametrize("fold", FOLDS)
@pytest.mark.parametrize("values", [TIMES, INSTANTS, ["b", "a", "c", "a"], [True, False, True]])
def test_times_and_texts_are_folded_or_refused_as_the_interpreter_does(
    fold: str, values: list[Any]
) -> None:
    for tree in ({"cumulate": fold}, {"window": {"n": 2, "of": {"cumulate": fold}}}):
        for seed in range(4):
            assert difference(_case(tree, [*values, None, *values], seed)) is None


@pytest.mark.parametrize("name", ["sub", "div", "xor", "implies", "eq", "lt"])
def test_any_function_of_the_engine_is_folded(name: str) -> None:
    random = Random(1)
    some = [True, False] if name in ("xor", "implies") else [1, 2, 4]
    values = [random.choice(some) for _ in range(9)]
    assert isinstance(_kernels(Cumulate("total", name))[0], Interpreted) is False
    assert difference(_case({"cumulate": name}, values, 1)) is None


def _kernels(chain: Any) -> list[Any]:
    return [at.kernel for at in KernelWork(Chain.of(chain)).kernels.steps]


def _messages(chain: Chain, values: list[Any], sizes: list[int]) -> tuple[str, str]:
    with pytest.raises(EventError) as expected:
        interpret(chain, values)
    work = KernelWork(chain)
    column = columns_of(values, work.run)
    with pytest.raises(EventError) as got:
        _feed(work, column, sizes)
    return str(expected.value), str(got.value)


def _feed(work: KernelWork, column: Column, sizes: list[int]) -> None:
    at = 0
    for size in [*sizes, len(column)]:
        stop = min(at + size, len(column))
        work.feed({work.chain.inputs[0]: column.slice(at, stop)})
        at = stop


@pytest.mark.parametrize("fold", ["add", "product"])
@pytest.mark.parametrize("sizes", [[], [1, 1, 1], [3, 0, 1]])
def test_an_overflow_is_told_with_the_interpreters_words(fold: str, sizes: list[int]) -> None:
    values = [1, 2, 2**62, 2**62, 5, 6]
    for chain in (
        Chain.of(Cumulate("total", fold)),
        Chain.of(Window("three", 3, Cumulate("total", fold))),
    ):
        expected, got = _messages(chain, values, sizes)
        assert got == expected
    assert "event 2 of the window at position" in expected


def test_a_sum_that_leaves_the_floats_is_told_with_the_interpreters_words() -> None:
    values = [1.0, 1e308, 1e308, 1.0]
    for chain in (
        Chain.of(Cumulate("total", "add")),
        Chain.of(Window("two", 2, Cumulate("total", "add"))),
    ):
        expected, got = _messages(chain, values, [1])
        assert got == expected


def test_a_window_in_a_row_leads_to_a_band_with_runs() -> None:
    """The shape that the record writes in a few numbers: a line, and a run for every zero."""
    work = KernelWork(
        Window("three", 3, Cumulate("product", "product")) | ApplyFunction("v", "value")
    )
    values = np.array([1, 2, 0, 4, 5, 6, 7, 0, 9], np.int64)
    work.feed({work.chain.inputs[0]: Column("integer", values, None, work.run.texts)})
    (part,) = work.run.kept[work.chain.outputs[0]].parts
    why: Any = part.why
    assert part.why is part.sup
    assert isinstance(why.usual, Line)
    assert (why.lo.tolist(), why.hi.tolist(), why.places.tolist()) == ([0, 5], [2, 6], [2, 7])


def test_wide_windows_over_many_batches() -> None:
    random = Random(7)
    values = [random.choice([1, 1, 1, 0, 2]) for _ in range(130)]
    for fold in FOLDS:
        tree: Any = {"window": {"n": 60, "of": {"cumulate": fold}}}
        assert difference(_case(tree, values, 3)) is None


def test_a_window_of_anything_else_runs_p_on_every_window() -> None:
    inner: list[Any] = [
        {"line": [{"trim": 1}, {"cumulate": "add"}]},
        {"line": [{"apply": {"gt": [{"field": "value"}, 1]}}, {"ltl": "F"}]},
        {"slice": {"by": {"field": "value"}, "of": {"cumulate": "add"}, "combine": "max"}},
        {"window": {"n": 2, "of": {"cumulate": "product"}}},
        {"trim": 5},
    ]
    for seed, p in enumerate(inner):
        values = _drawn("integers", seed, 25)
        told = difference(_case({"window": {"n": 4, "of": p}}, values, seed))
        assert told is None, f"{p}: {told}"


def test_folds_and_windows_in_random_chains() -> None:
    tags = ("cumulate", "window", "slice", "apply", "filter")
    for seed in range(80):
        told = difference(random_case(seed, tags), moved=seed % 2 == 0)
        assert told is None, f"seed {seed}: {told}"


def test_what_a_slot_holds_is_found_after_many_others_came_and_went() -> None:
    held = SlotRows()
    for number in range(4000):
        row = Reasons.of(Line(0, 0, 1, number, number))
        held.put(np.array([number % 3]), row)
    why = held.trails().why
    assert len(why) < 1100  # rows that no slot has any more are forgotten
    found = why.entries(held.row[:3])
    assert found.lo[np.argsort(found.row)].tolist() == [3999, 3997, 3998]
