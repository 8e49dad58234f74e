"""Supports are not needlessly large: most outputs that nothing can change are recognised.

One input event, or one innocent case, is corrupted in many ways; outputs that never change are
*truly* unaffected; the support recognises those that it does not lean on the corrupted inputs for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any

import pytest

from tests.engine.corruptor import equal
from tests.engine.examples import lifecycle
from whence.engine import ApplyFunction, Chain, Cumulate, MemoryTracker, Slice, Window, interpret
from whence.engine.formula import formula

Log = list[dict[str, Any]]
WAYS = 12


def share_recognised(
    chain: Chain,
    log: Log,
    corruptions: Iterable[Sequence[int]],
    other: Callable[[dict[str, Any]], dict[str, Any]],
) -> tuple[int, int]:
    """How many unaffected outputs are recognised, and how many there truly are."""
    result = interpret(chain, log, tracker=MemoryTracker())
    supports = [{p for _, p in result.explain(k).support} for k in range(len(result.values))]
    recognised = truly = 0
    for positions in corruptions:
        unaffected = [True] * len(supports)
        for _ in range(WAYS):
            changed = list(log)
            for position in positions:
                changed[position] = other(log[position])
            after = interpret(chain, changed).values
            for k, value in enumerate(result.values):
                unaffected[k] &= k < len(after) and equal(value, after[k])
        for k, support in enumerate(supports):
            says = not support & set(positions)
            assert unaffected[k] or not says, f"output {k} was promised to stay"
            truly += unaffected[k]
            recognised += says
    return recognised, truly


def report(name: str, counts: tuple[int, int], capsys: pytest.CaptureFixture[str]) -> float:
    recognised, truly = counts
    share = recognised / truly
    with capsys.disabled():
        print(f"\n{name}: {share:.2%} of {truly} truly unaffected outputs recognised")
    return share


def test_window_recognises_99_of_100(capsys: pytest.CaptureFixture[str]) -> None:
    random = Random(1)
    log = [{"x": random.randint(0, 3), "y": random.randint(0, 3)} for _ in range(300)]
    chain = (
        ApplyFunction("times", "x * y")
        | Window("three", n=3, of=Cumulate("product", "product"))
        | ApplyFunction("not-zero", "value != 0")
    )

    def other(event: dict[str, Any]) -> dict[str, Any]:
        return {"x": random.randint(0, 3), "y": random.randint(0, 3)}

    counts = share_recognised(chain, log, [[random.randrange(300)] for _ in range(25)], other)
    assert report("window", counts, capsys) >= 0.99


def test_the_temporal_formula_recognises_99_of_100(capsys: pytest.CaptureFixture[str]) -> None:
    random = Random(2)

    def event(_: dict[str, Any] | None = None) -> dict[str, Any]:
        return {"action": random.choice("abcd"), "p": random.choice((-2, 0, 1, 1))}

    log = [event() for _ in range(300)]
    rule = Chain.of(formula("G (p < 0 -> X (action = 'a' and X action = 'a'))"))
    counts = share_recognised(rule, log, [[random.randrange(300)] for _ in range(25)], event)
    assert report("temporal formula", counts, capsys) >= 0.99


def test_lifecycle_recognises_95_of_100(capsys: pytest.CaptureFixture[str]) -> None:
    random = Random(3)
    running: dict[int, int] = {}
    log: Log = []
    for _ in range(400):
        case = random.randrange(25)
        step = running.get(case, 0)
        action = ("create", "approve", "pay")[step if step < 1 else 1 + (step - 1) % 2]
        if case % 5 == 0 and step > 3 and random.random() < 0.3:
            action = "create"
        running[case] = step + 1
        log.append({"case": case, "action": action})
    chain = Chain.of(Slice("per-case", by="case", of=lifecycle(), combine="and"))
    assert interpret(chain, log).values[-1] is False

    def other(event: dict[str, Any]) -> dict[str, Any]:
        return {**event, "action": random.choice(("create", "approve", "pay", "refund"))}

    innocent = [
        [p for p, event in enumerate(log) if event["case"] == case] for case in running if case % 5
    ]
    counts = share_recognised(chain, log, innocent, other)
    assert report("lifecycle, one innocent case", counts, capsys) >= 0.95


def test_a_zero_explains_a_product_alone_where_missing_factors_have_a_value() -> None:
    random = Random(4)
    factors = "coalesce(x, 0) * coalesce(y, w, 1)"
    log = [{n: random.choice((0, 0, 1, 2, None)) for n in "xyw"} for _ in range(200)]
    result = interpret(ApplyFunction("times", factors), log, tracker=MemoryTracker())
    zeros = 0
    for k, event in enumerate(log):
        why = result.explain(k)
        if event["x"] in (0, None) and event["y"] is not None:
            zeros += 1
            assert set(why.inputs.values()) == {frozenset({"x"})}
            assert why.support == why.inputs
    assert zeros > 40


def test_a_factor_that_may_vanish_supports_a_product_unless_a_value_stands_in() -> None:
    def support_of(factor: str) -> set[str]:
        log = [{"x": 0, "c": True, "y": 5}]
        chain = ApplyFunction("times", f"x * {factor}")
        (fields,) = interpret(chain, log, tracker=MemoryTracker()).explain(0).support.values()
        return set(fields or ())

    assert support_of("(if c then 1 else missing)") == {"x", "c"}
    assert support_of("coalesce(if c then 1 else missing, 7)") == {"x"}
    assert support_of("coalesce(if c then 1 else missing, missing)") == {"x", "c"}
    assert support_of("coalesce(3, if c then 1 else missing)") == {"x"}
    # What stands in may be infinite: then the product is no zero.
    assert support_of("coalesce(if c then 1 else missing, y)") == {"x", "c"}
    assert support_of("coalesce(y, 0)") == {"x"}
