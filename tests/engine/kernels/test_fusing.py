"""Logic and X run as one: equal to the interpreter, and apart again where events need it."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

import pytest

from tests.engine.kernels.comparing import columns_of, difference
from tests.engine.random_chains import Case, random_case
from whence.engine.errors import EventError
from whence.engine.formula import formula
from whence.engine.interpreter import Interpreter, interpret
from whence.engine.kernels.fusing import Fused
from whence.engine.kernels.work import KernelWork
from whence.engine.language.chain import Chain
from whence.engine.processors import ApplyFunction, Filter


@dataclass
class _Formula(Case):
    text: str = ""

    def chain(self) -> Chain:
        return Chain.of(formula(self.text))


def _random_formula(random: Random, depth: int) -> str:
    if not depth or random.random() < 0.1:
        return random.choice("pqr")
    kind = random.choice(["X", "X", "not", "and", "or", "->"] * 2 + ["G", "F", "U"])
    left = _random_formula(random, depth - 1)
    if kind in ("X", "G", "F", "not"):
        return f"{kind} ({left})"
    return f"(({left}) {kind} ({_random_formula(random, depth - 1)}))"


def _log(random: Random, count: int) -> list[Any]:
    def condition() -> bool | None:
        return None if random.random() < 0.05 else random.random() < 0.6

    return [{name: condition() for name in "pqr"} for _ in range(count)]


def _fused(work: KernelWork) -> list[Fused[Any]]:
    return [s for s in set(work.kernels.segments.values()) if isinstance(s, Fused)]


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("moved", [False, True])
def test_random_formulas_say_what_the_interpreter_says(closed: bool, moved: bool) -> None:
    fused = 0
    for seed in range(40):
        random = Random(seed)
        text = _random_formula(random, 4)
        case = _Formula(seed, {}, {"log": _log(random, 25)}, closed, text=text)
        told = difference(case, moved=moved)
        assert told is None, f"{text}: {told}"
        fused += bool(_fused(KernelWork(case.chain())))
    assert fused > 12


def test_the_formula_of_the_paper_is_one_group() -> None:
    chain = Chain.of(formula("G(p -> X(q and X q))"))
    work = KernelWork(chain)
    (group,) = {fused.group for fused in _fused(work)}
    read = [(leaf.field, leaf.later) for leaf in group.leaves]
    assert sorted(read) == [("p", 0), ("q", 1), ("q", 2)]
    assert group.delay == 2
    assert [at.step.name for at in work.kernels.steps][group.steps[-1]] == "formula/implies"


def test_what_waits_is_counted_processor_by_processor() -> None:
    chain = Chain.of(formula("p -> X(q and X q)"))
    log = _log(Random(1), 5)
    for count in range(6):
        work = KernelWork(chain)
        work.feed({"log": columns_of(log[:count], work.run)})
        by_events = Interpreter(chain)
        for event in log[:count]:
            by_events.feed("log", event)
        assert work.kernels.pending() == by_events.pending(), count


def test_a_value_that_is_no_condition_is_refused_as_ever() -> None:
    chain = Chain.of(formula("p -> X(q and X q)"))
    log = [*_log(Random(2), 7), {"p": 1, "q": "yes", "r": None}, *_log(Random(3), 3)]
    with pytest.raises(EventError) as expected:
        interpret(chain, log)
    for size in (1, 3, 11):
        with pytest.raises(EventError) as got:
            _feed(chain, log, size)
        assert str(got.value) == str(expected.value), size


def _feed(chain: Chain, log: list[Any], size: int) -> None:
    work = KernelWork(chain)
    for start in range(0, len(log), size):
        work.feed({"log": columns_of(log[start : start + size], work.run)})


def test_what_stands_behind_an_irregular_pipe_runs_apart() -> None:
    sieve = Filter("sieve", where="p")
    chain = sieve | formula("q -> X r")
    assert not _fused(KernelWork(chain))


def test_a_pipe_that_somebody_else_reads_is_not_swallowed() -> None:
    both = Chain.of(formula("X p and X X p"))
    work = KernelWork(both)
    for fused in _fused(work):
        inside = set(fused.steps) - {fused.steps[-1]}
        for number, step in enumerate(work.plan.steps):
            if number not in fused.steps:
                assert not inside & {source[0] for source in step.sources}


def test_long_formulas_run_apart() -> None:
    wide = " and ".join("X " * n + "p" for n in range(1, 14))
    assert not _fused(KernelWork(Chain.of(formula(wide))))


def test_one_function_alone_is_no_group() -> None:
    assert not _fused(KernelWork(Chain.of(ApplyFunction("same", "p and q"))))


def test_a_field_that_is_handed_on_stays_missing() -> None:
    """With another processor before it, which it waits for as well."""
    assert difference(random_case(303_600)) is None
