"""Processors without a rule of their own about the past: equal to the interpreter on batches."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.engine.kernels.comparing import columns_of, difference
from tests.engine.random_chains import Case, random_case
from whence.engine.errors import EventError
from whence.engine.interpreter import interpret
from whence.engine.kernels.adapter import Interpreted
from whence.engine.kernels.batch import Batch, Front
from whence.engine.kernels.columns.lazy_ints import made
from whence.engine.kernels.kernel import Born, Kernel
from whence.engine.kernels.registry import kernel_for
from whence.engine.kernels.trails.refused import Refused
from whence.engine.kernels.trails.trail import Nothing
from whence.engine.kernels.work import KernelWork
from whence.engine.language.chain import Chain
from whence.engine.language.processor import Processor
from whence.engine.processors import (
    ApplyFunction,
    CountDecimate,
    Filter,
    Fork,
    Freeze,
    Insert,
    Multiplex,
    Passthrough,
    Stutter,
    Trim,
    TurnInto,
)

MIXES = {
    "filter": ("filter", "freeze", "turn_into"),
    "copies": ("passthrough", "fork", "multiplex", "filter"),
    "counts": ("trim", "decimate", "stutter", "filter"),
    "begin": ("insert", "multiplex", "freeze", "stutter"),
    "slices": ("slice", "filter", "freeze", "insert", "trim", "decimate"),
    "windows": ("window", "filter", "freeze", "insert", "trim", "stutter"),
    "functions": ("apply", "turn_into"),
}


@pytest.mark.parametrize("mix", MIXES)
def test_random_chains_agree_with_the_interpreter(mix: str) -> None:
    for seed in range(60):
        found = difference(random_case(seed, MIXES[mix]))
        assert found is None, (seed, found)


@pytest.mark.parametrize("mix", [mix for mix in MIXES if mix != "windows"])
def test_random_chains_go_on_elsewhere_after_every_batch(mix: str) -> None:
    for seed in range(40):
        found = difference(random_case(seed, MIXES[mix]), moved=True)
        assert found is None, (seed, found)


@pytest.mark.full
@pytest.mark.parametrize("mix", MIXES)
def test_many_random_chains_agree_with_the_interpreter(mix: str) -> None:
    for seed in range(1_000, 3_000):
        found = difference(random_case(seed, MIXES[mix]))
        assert found is None, (seed, found)


def feed(work: KernelWork, events: list[Any]) -> None:
    work.feed({"log": columns_of(events, work.run)})


def feed_all(work: KernelWork, events: list[Any], size: int) -> None:
    for start in range(0, len(events), size):
        feed(work, events[start : start + size])


def outputs(work: KernelWork) -> list[Any]:
    (name,) = work.chain.outputs
    parts = work.run.kept[name].parts
    return [v for part in parts if part.values is not None for v in part.values.to_list()]


EACH: list[Processor] = [
    ApplyFunction("p", "value + 1"),
    CountDecimate("p", 2),
    Filter("p", where="value > 0"),
    Fork("p", 1),
    Freeze("p"),
    Insert("p", 2, 7),
    Passthrough("p"),
    Stutter("p", 3),
    Trim("p", 2),
    TurnInto("p", 5),
]


@pytest.mark.parametrize("processor", EACH, ids=lambda p: type(p).__name__)
def test_each_has_a_kernel_of_its_own(processor: Processor) -> None:
    work = KernelWork(Chain.of(processor))
    kernels = [at.kernel for at in work.kernels.steps]
    assert not any(isinstance(kernel, Interpreted) for kernel in kernels)
    log = [3, -1, 4, 1, -5, 9]
    for cut in (log[:1], log[1:4], log[4:]):
        feed(work, cut)
    expected = interpret(Chain.of(processor), {"log": log})
    assert outputs(work) == [output.value for output in expected.outputs]


def test_multiplex_has_a_kernel_of_its_own() -> None:
    case = next(
        case
        for case in (random_case(seed, ("multiplex",)) for seed in range(1_000))
        if "multiplex" in str(case.tree)
    )
    kernels = [at.kernel for at in KernelWork(case.chain()).kernels.steps]
    assert not any(isinstance(k, Interpreted) for k in kernels if _is(k, Multiplex))
    assert any(_is(k, Multiplex) for k in kernels)


def _is(kernel: Kernel, what: type[Processor]) -> bool:
    return isinstance(kernel.place.processor, what)


@pytest.mark.parametrize(
    ("processor", "log"),
    [
        (ApplyFunction("p", "10 / value"), [1, 2, 5, 0, 0]),
        (Filter("p", where="10 / value > 1"), [1, 2, 5, 0, 0]),
        (Filter("p", where="value"), [True, None, False, 3, "a"]),
        (Filter("p", where="if value > 8 then 1 / 0 > 0 else value"), [9, 3]),
        (Filter("p", where="if value > 8 then 1 / 0 > 0 else value"), [3, 9]),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 5])
def test_a_fault_names_the_processor_and_the_position_as_the_interpreter_does(
    processor: Processor, log: list[Any], size: int
) -> None:
    chain = Chain.of(processor)
    with pytest.raises(EventError) as expected:
        interpret(chain, {"log": log})
    with pytest.raises(EventError) as got:
        feed_all(KernelWork(chain), log, size)
    assert str(got.value) == str(expected.value)


def test_refused_conditions_go_into_the_record_when_there_are_many() -> None:
    def run(most: int) -> tuple[KernelWork, set[int]]:
        work = KernelWork(Chain.of(Filter("f", where="value > 0")))
        (kernel,) = [at.kernel for at in work.kernels.steps]
        kernel.refused = Refused(kernel.place, most=most)  # type: ignore[attr-defined]
        for start in range(0, 40, 4):
            feed(work, [(-1) ** n for n in range(start, start + 4)])
        return work, reached(work)

    def reached(work: KernelWork) -> set[int]:
        found: set[int] = set()
        stack = [work.end(0)]
        helper = work.run.kept.get("f/refused")
        while stack:
            for target, lo, hi in zip(*(a.tolist() for a in _ends(stack.pop())), strict=True):
                if helper is None or target != helper.target:
                    found |= set(range(lo, hi + 1))
                    continue
                for part in helper.parts:
                    places = made(part.positions)
                    rows = np.flatnonzero((places >= lo) & (places <= hi))
                    stack.append(part.sup.entries(rows))
        return found

    def _ends(entries: Any) -> tuple[Any, Any, Any]:
        return entries.target, entries.lo, entries.hi

    few, expected = run(2**16)
    assert "f/refused" not in few.run.kept
    assert expected == set(range(1, 40, 2))
    many, got = run(3)
    assert many.run.kept["f/refused"].count == 5
    assert got == expected


def test_a_filter_that_lets_everything_through_copies_nothing() -> None:
    work = KernelWork(Chain.of(Filter("f", where="value > 0")))
    column = columns_of([1, 2, 3], work.run)
    work.feed({"log": column})
    (part,) = work.run.kept["f"].parts
    assert part.values is column


def test_that_a_filtered_event_exists_rests_on_its_own_pipe_as_well() -> None:
    nodes = {
        "a": {"from": ["log"], "is": {"filter": {"where": {"gt": [{"field": "x"}, 0]}}}},
        "b": {"from": ["log"], "is": {"apply": {"field": "b"}}},
        "c": {"from": ["a", "b"], "is": {"filter": {}}},
        "d": {"from": ["c"], "is": {"turn_into": 1}},
    }
    tree = {"graph": {"inputs": ["log"], "nodes": nodes, "output": "d"}}
    log = [{"x": x, "b": b} for x, b in ((1, False), (0, True), (2, True), (0, False), (3, True))]
    for seed in range(10):
        assert difference(Case(seed, tree, {"log": log}, closed=False)) is None


def test_what_begins_comes_in_its_moment_before_the_events_of_its_instance() -> None:
    work = KernelWork(Chain.of(Insert("i", 2, 0)))
    (at,) = work.kernels.steps
    inside = kernel_for(replace(at.kernel.place, slotted=True))
    assert inside is not None
    moment, slot = np.array([3, 4, 5, 6]), np.array([0, 1, 0, 2])
    trail = Nothing(4)
    batch = Batch(columns_of([7, 8, 9, 5], work.run), moment, slot, trail, trail, None)
    born = Born(np.array([1, 2]), np.array([4, 6]), 3)
    (given,) = inside.feed(Front((batch,), moment, slot), born)
    assert given.values.to_list() == [7, 0, 0, 8, 9, 0, 0, 5]
    assert made(given.moment).tolist() == [3, 4, 4, 4, 5, 6, 6, 6]
    assert given.slot is not None
    assert given.slot.tolist() == [0, 1, 1, 1, 0, 2, 2, 2]
