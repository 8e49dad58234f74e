"""G, F, X, U on batches: equal to the interpreter, with bursts, long waits and closed logs."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from tests.engine.kernels.comparing import columns_of, difference
from tests.engine.random_chains import Case, random_case
from whence.engine.errors import EventError
from whence.engine.interpreter import interpret
from whence.engine.kernels import waiting
from whence.engine.kernels.trails.runs import Runs
from whence.engine.kernels.work import KernelWork
from whence.engine.language.chain import Chain
from whence.engine.palettes.ltl import F, G, U, X

CHANCES = (0.05, 0.5, 0.95)


def _booleans(seed: int, chance: float, count: int) -> list[Any]:
    random = Random(seed)
    return [None if random.random() < 0.05 else random.random() < chance for _ in range(count)]


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("symbol", "GFX")
def test_verdicts_are_the_interpreters(symbol: str, closed: bool) -> None:
    for seed in range(12):
        values = _booleans(seed, CHANCES[seed % 3], 40)
        case = Case(seed, {"ltl": symbol}, {"log": values}, closed)
        assert difference(case) is None, f"seed {seed}"
        assert difference(case, moved=True) is None, f"seed {seed}, moved"


@pytest.mark.parametrize("closed", [False, True])
def test_until_is_the_interpreters(closed: bool) -> None:
    graph: Any = {"inputs": ["p", "q"], "nodes": {"u": {"from": ["p", "q"], "is": {"ltl": "U"}}}}
    tree = {"graph": {**graph, "output": "u"}}
    for seed in range(20):
        logs = {
            "p": _booleans(seed, (0.95, 0.6)[seed % 2], 30),
            "q": _booleans(seed + 1, (0.05, 0.3)[seed % 2], 30 + seed % 3),
        }
        case = Case(seed, tree, logs, closed)
        assert difference(case) is None, f"seed {seed}"
        assert difference(case, moved=True) is None, f"seed {seed}, moved"


def test_what_waits_is_the_same_however_often_it_is_tidied(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ends included, which lean on all that still wait; and state saved between two batches."""
    monkeypatch.setattr(waiting, "_ROOM", 0)
    monkeypatch.setattr(waiting, "_PART", 3)
    for seed in range(30):
        told = difference(random_case(seed, ("slice", "ltl", "apply")), moved=seed % 2 == 0)
        assert told is None, f"seed {seed}: {told}"


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("symbol", "GFX")
def test_verdicts_of_slices_are_the_interpreters(symbol: str, closed: bool) -> None:
    inner = {"line": [{"apply": {"field": "ok"}}, {"ltl": symbol}]}
    tree = {"slice": {"by": {"field": "k"}, "of": inner, "combine": "and"}}
    for seed in range(8):
        random = Random(seed)
        oks = _booleans(seed, CHANCES[seed % 3], 40)
        log = [{"k": random.choice("abcd"), "ok": ok} for ok in oks]
        case = Case(seed, tree, {"log": log}, closed)
        assert difference(case) is None, f"seed {seed}"
        assert difference(case, moved=True) is None, f"seed {seed}, moved"


def test_operators_in_random_chains() -> None:
    tags = ("ltl", "slice", "apply", "window", "fork")
    for seed in range(80):
        told = difference(random_case(seed, tags), moved=seed % 2 == 0)
        assert told is None, f"seed {seed}: {told}"


def test_a_burst_is_one_run() -> None:
    work = KernelWork(Chain.of(G("always")))
    for values in ([True] * 5, [True, False, True]):
        work.feed({"log": columns_of(values, work.run)})
    (part,) = work.run.kept["always"].parts
    assert isinstance(part.why, Runs)
    assert (part.why.lo.tolist(), part.why.hi.tolist()) == ([0], [6])
    found = part.why.entries(np.array([0, 6]))
    assert found.lo.tolist() == found.hi.tolist() == [6, 6]
    assert work.kernels.pending() == {"always": 1}


def test_long_waits_are_kept_in_one_interval() -> None:
    """What waits on a log in order is one interval, however many batches it came in."""
    work = KernelWork(Chain.of(F("sometime")))
    for _ in range(50):
        work.feed({"log": columns_of([False] * 200, work.run)})
    end = work.end(0)
    assert (end.lo.tolist(), end.hi.tolist()) == ([0], [9_999])
    assert work.kernels.pending() == {"sometime": 10_000}


@pytest.mark.parametrize("operator", [G("op"), F("op"), X("op")])
def test_what_is_no_condition_is_refused_with_the_interpreters_words(operator: Any) -> None:
    values = [True, None, True, 3, "a"]
    chain = Chain.of(operator)
    with pytest.raises(EventError) as expected:
        interpret(chain, values)
    work = KernelWork(chain)
    column = columns_of(values, work.run)
    work.feed({"log": column.slice(0, 2)})
    with pytest.raises(EventError) as got:
        work.feed({"log": column.slice(2, 5)})
    assert str(got.value) == str(expected.value)


def test_until_refuses_the_pipe_that_comes_first() -> None:
    chain = Chain.of(U("until"))
    logs: dict[str, list[Any]] = {"p": [True, "x"], "q": [False, 3]}
    names = dict(zip(chain.inputs, logs.values(), strict=True))
    with pytest.raises(EventError) as expected:
        interpret(chain, names)
    work = KernelWork(chain)
    with pytest.raises(EventError) as got:
        work.feed({name: columns_of(log, work.run) for name, log in names.items()})
    assert str(got.value) == str(expected.value)
