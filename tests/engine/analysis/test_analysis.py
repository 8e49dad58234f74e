"""Analyse: what never matters never does, and what is bounded stays within its bound."""

from __future__ import annotations

import os
from collections import Counter
from math import inf
from random import Random
from typing import Any

import pytest

from tests.engine.corruption import values_of
from tests.engine.corruptor import Cell, Corruptor, equal
from tests.engine.random_chains import random_case, refusals_skipped
from whence.engine import (
    ApplyFunction,
    Chain,
    CountDecimate,
    Cumulate,
    Filter,
    Insert,
    Slice,
    Stutter,
    Trim,
    TurnInto,
    Window,
)
from whence.engine.analysis import Analysis, analyse
from whence.engine.errors import WhenceError
from whence.engine.formula import formula
from whence.engine.interpreter import interpret
from whence.engine.language.log import Log
from whence.engine.lineage.positions import positions
from whence.engine.lineage.terms import flatten
from whence.engine.lineage.tracker import MemoryTracker
from whence.engine.palettes.ltl import G, X

FULL = os.environ.get("WHENCE_TEST_PROFILE") == "full"
TRIMMED = Trim("skip", n=2) | CountDecimate("third", n=3)


def mattering(found: Analysis, many: int = 14) -> list[int]:
    (log,) = found.logs
    return [at for at in range(many) if log.matters(at)]


@pytest.mark.parametrize(
    ("chain", "matter"),
    [
        (TRIMMED, [2, 5, 8, 11]),
        (Chain.of(TurnInto("one", value=1)), []),
        (Trim("skip", n=3) | Cumulate("sum", "add"), list(range(3, 14))),
        (CountDecimate("even", n=2) | CountDecimate("third", n=3), [0, 6, 12]),
        (Window("w", n=4, of=Trim("t", n=2)) | CountDecimate("d", n=5), [3, 8, 13]),
        (Insert("i", n=1, value=0) | CountDecimate("d", n=2), [1, 3, 5, 7, 9, 11, 13]),
        (Stutter("s", n=2) | CountDecimate("d", n=4), [0, 2, 4, 6, 8, 10, 12]),
        (CountDecimate("d", n=4) | X("next"), [4, 8, 12]),
        (CountDecimate("d", n=7) | G("always"), [0, 7]),
    ],
    ids=lambda value: (
        "".join(p.tag for _, p in value.processors())
        if value and not isinstance(value, list)
        else ""
    ),
)
def test_positions_that_can_never_matter(chain: Chain, matter: list[int]) -> None:
    assert mattering(analyse(chain)) == matter


def test_fields_that_can_never_matter() -> None:
    columns = {"case": "text", "action": "text", "amount": "integer", "clerk": "text"}
    rule = formula("G (amount < 0 -> X action = 'a')")
    chain = Chain.of(rule)
    chain = Chain.graph(
        chain.inputs,
        [(c.processor, c.sources) for c in chain.connections],
        chain.outputs,
        {chain.inputs[0]: Log(columns)},
    )
    (log,) = analyse(chain).logs
    assert log.fields == ("action", "amount")
    assert log.unused == ("case", "clerk")


@pytest.mark.parametrize(
    ("chain", "most", "waits"),
    [
        (Chain.of(Window("w", n=4, of=Cumulate("sum", "add"))), 4, 3),
        (TRIMMED, 1, 0),
        (Chain.of(Cumulate("sum", "add")), "unbounded", 0),
        (Chain.of(Stutter("s", n=3)), 3, 0),
        (Chain.of(G("always")), "linear", inf),
        (X("a") | X("b"), 1, 2),
        (Chain.of(Slice("s", by="value", of=Cumulate("c", "add"), combine="add")), "unbounded", 0),
    ],
    ids=lambda value: (
        "".join(p.tag for _, p in value.processors()) if isinstance(value, Chain) else str(value)
    ),
)
def test_bounds(chain: Chain, most: int | str, waits: float) -> None:
    (pipe,) = analyse(chain).pipes
    assert (pipe.explains_at_most, pipe.waits) == (most, waits)


def test_one_position_is_followed() -> None:
    window = analyse(Window("w", n=3, of=Cumulate("sum", "add")))
    (found,) = window.affected("log", 7)
    assert (found.outputs, found.and_on, found.explains_at_most) == (((5, 7),), False, 3)
    (found,) = analyse(Cumulate("sum", "add")).affected("log", 2)
    assert found.outputs[0][0] == 2
    assert (found.and_on, found.explains_at_most) == (True, "unbounded")
    (found,) = analyse(ApplyFunction("f", "x > 0")).affected("log", 2, "y")
    assert found.outputs == ()
    with pytest.raises(WhenceError, match=r"expected one of log; got 'lag'; try log@0"):
        window.affected("lag", 1)
    with pytest.raises(WhenceError, match=r"expected a position below"):
        window.affected("log", 10**6)


def test_what_was_not_decided_is_told() -> None:
    assert analyse(TRIMMED).exact
    assert analyse(ApplyFunction("f", "x > 0")).exact
    assert not analyse(ApplyFunction("f", "x > 0 or x <= 0")).exact
    assert not analyse(Filter("f", where="value > 0")).exact
    same = Chain.graph(
        ["log"],
        [
            (ApplyFunction("one", "x > 0"), ["log"]),
            (ApplyFunction("other", "x <= 0"), ["log"]),
            (ApplyFunction("any", "$0 or $1"), ["one", "other"]),
        ],
    )
    assert analyse(same).not_exact == (
        "any: it reads the same input on several ways, which might cancel out",
    )
    assert analyse(formula("G (p < 0 -> X action = 'a')")).exact
    long = CountDecimate("a", n=97) | CountDecimate("b", n=89)
    assert any("events to repeat" in reason for reason in analyse(long).not_exact)


@pytest.mark.parametrize("seed", range(150 if FULL else 40))
def test_no_run_goes_beyond_the_analysis(seed: int) -> None:
    """Nothing else explains an output; nothing else, corrupted, changes one or makes one appear."""
    case = random_case(seed + 3_000)
    chain = case.chain()
    with refusals_skipped():
        result = interpret(chain, case.logs, tracker=MemoryTracker(), closed=case.closed)
    found = analyse(chain, closed=case.closed)
    reach = {
        (log, at): {each.output: each for each in found.affected(log, at)}
        for log, events in case.logs.items()
        for at in range(len(events))
    }
    explained: Counter[Any] = Counter()
    for output in result.outputs:
        explained.update((output.name, *place) for place in flatten(output.event))
    most = {pipe.output: pipe.explains_at_most for pipe in found.pipes}
    for (name, log, at), many in explained.items():
        for bound in (most[name], reach[log, at][name].explains_at_most):
            assert isinstance(bound, str) or many <= bound
    corruptor = Corruptor(case, Random(seed))
    for cell in Random(seed).choices(corruptor.cells, k=20) if corruptor.cells else ():
        _corrupt(corruptor, cell, found, values_of(result))


def _corrupt(corruptor: Corruptor, cell: Cell, found: Analysis, before: Any) -> None:
    log, at, field = cell
    logs, _ = corruptor.corrupt([cell])
    case = corruptor.case
    try:
        after = values_of(interpret(case.chain(), logs, closed=case.closed))
    except WhenceError:
        return
    changed = {
        (name, k)
        for name in before
        for k in range(max(len(before[name]), len(after[name])))
        if k >= len(before[name])
        or k >= len(after[name])
        or not equal(before[name][k], after[name][k])
    }
    allowed = {
        (each.output, k) for each in found.affected(log, at, field) for k in positions(each.outputs)
    }
    assert changed <= allowed
    (use,) = (use for use in found.logs if use.log == log)
    assert not changed or use.matters(at)
    assert not changed or field is None or use.fields is None or field in use.fields


@pytest.mark.parametrize("seed", range(20))
def test_where_it_is_exact_what_can_matter_does(seed: int) -> None:
    random = Random(seed)
    parts: list[Any] = [
        random.choice(
            (
                Trim(f"t{n}", n=random.randint(0, 3)),
                CountDecimate(f"d{n}", n=random.randint(1, 3)),
                Stutter(f"s{n}", n=random.randint(1, 2)),
                Insert(f"i{n}", n=random.randint(0, 2), value=-7),
                Window(f"w{n}", n=random.randint(1, 3), of=Trim(f"wt{n}", n=random.randint(0, 1))),
                ApplyFunction(f"a{n}", "value + 1"),
            )
        )
        for n in range(4)
    ]
    chain = Chain.of(parts[0])
    for part in parts[1:]:
        chain = chain | part
    found = analyse(chain)
    log = list(range(100, 140))
    before = interpret(chain, log).values
    for at in range(12):
        changed = [*log[:at], 999, *log[at + 1 :]]
        after = interpret(chain, changed).values
        differs = [k for k, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
        assert bool(differs) == found.logs[0].matters(at), (at, chain.tree())
        if found.exact:
            (told,) = found.affected("log", at)
            shown = [k for k in positions(told.outputs) if k < len(before)]
            assert shown == differs
