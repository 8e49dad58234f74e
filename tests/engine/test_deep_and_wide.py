"""Deep and wide chains and logs: no recursion, no explosion. Work is counted, never timed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest

from tests.engine.examples import lifecycle
from whence.engine import (
    ApplyFunction,
    Chain,
    Cumulate,
    Explanation,
    Fork,
    Interpreter,
    MemoryTracker,
    Passthrough,
    Slice,
    Trim,
    call,
    event,
    interpret,
)
from whence.engine.formula import formula
from whence.engine.language.events import Event, Part, Term
from whence.engine.language.processor import Processor
from whence.engine.palettes.ltl import G

FULL = os.environ.get("WHENCE_TEST_PROFILE") == "full"
LONG = 1_000_000 if FULL else 100_000


def terms_below(root: Term) -> int:
    """How many distinct terms an explanation is made of."""
    seen: set[int] = set()
    stack: list[Term] = [root]
    while stack:
        item = stack.pop()
        if item is None or id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, tuple):
            stack.extend(item)
        elif isinstance(item, Part):
            stack.append(item.event)
        else:
            assert isinstance(item, Event)
            stack += [item.why, item.support, item.exists]
    return len(seen)


def diamonds(count: int, function: str) -> Chain:
    """Each processor reads both copies of the one before: 2 ** count ways to the input."""
    made: list[tuple[Processor, list[str]]] = []
    before = "log"
    for n in range(count):
        made.append((Fork(f"f{n}", m=2), [before]))
        both = ApplyFunction(f"d{n}", call(function, event(0), event(1)))
        made.append((both, [f"f{n}.0", f"f{n}.1"]))
        before = f"d{n}"
    return Chain.graph(["log"], made, [before])


@pytest.mark.parametrize("function", ["or", "and", "xor"])
def test_thirty_diamonds_are_answered_without_explosion(function: str) -> None:
    chain = diamonds(30, function)
    result = interpret(chain, [True, False], tracker=MemoryTracker("all"))
    for k in range(2):
        explanation = result.explain(k)
        assert set(explanation.inputs) == {("log", k)}
        assert set(explanation.support) == {("log", k)}
        alternatives = explanation.alternatives
        assert alternatives.sets == (frozenset({("log", k)}),)
        assert not alternatives.cut
        assert terms_below(explanation.event) < 400
        graph = explanation.graph()
        assert len(graph) <= 1 + 3 * 30


def test_diamonds_over_two_logs_are_cut_with_a_notice_and_never_explode() -> None:
    """Cumulate(and) of or(p, next q) has more sets of witnesses after each event."""
    made: list[tuple[Processor, list[str]]] = [
        (ApplyFunction("either", "$0 or $1"), ["p", "q"]),
        (Cumulate("all", "and"), ["either"]),
    ]
    chain = Chain.graph(["p", "q"], made)
    log = [True] * 30
    result = interpret(chain, {"p": log, "q": log}, tracker=MemoryTracker("all"))
    few = result.explain(5).alternatives
    assert (len(few.sets), few.cut) == (64, False)  # 2 ** 6, each of six or the other
    many = result.explain(29).alternatives
    assert (len(many.sets), many.cut) == (64, True)
    assert many.sets[0] == {("p", k) for k in range(30)}


def test_a_chain_of_2000_processors_is_built_run_and_explained() -> None:
    assert sys.getrecursionlimit() <= 2_000
    names = ["log", *(f"p{n}" for n in range(2_000))]
    made = [(Passthrough(name), [before]) for before, name in pairwise(names)]
    chain = Chain.graph(["log"], made)
    result = interpret(chain, ["a", "b"], tracker=MemoryTracker("all"))
    assert result.values == ["a", "b"]
    assert set(result.explain(1).inputs) == {("log", 1)}
    assert result.explain(1).alternatives.sets == (frozenset({("log", 1)}),)
    assert len(result.explain(1).graph()) == 2_001
    assert chain.digest == Chain.graph(["log"], made).digest


def test_a_function_of_many_terms_and_a_formula_of_many_parts() -> None:
    total = ApplyFunction("total", " + ".join(["x"] * 2_000))
    assert interpret(total, [{"x": 2}]).values == [4_000]
    every = formula(" and ".join(f"G (x > {n})" for n in range(100)))
    result = interpret(every, [{"x": 50}], tracker=MemoryTracker(), closed=True)
    assert result.values == [False]
    assert result.explain(0).names == ["log@0.x"]


@pytest.mark.parametrize("witnesses", ["first", "all"])
def test_cumulate_over_a_long_log(witnesses: Any) -> None:
    result = interpret(Cumulate("sum", "add"), range(LONG), tracker=MemoryTracker(witnesses))
    assert result.values[-1] == LONG * (LONG - 1) // 2
    last = result.explain(LONG - 1)
    assert len(last.inputs) == LONG
    # One event and one pair of terms for each input, and no more.
    assert terms_below(last.event) <= 3 * LONG + 3
    if witnesses == "all":
        assert len(last.alternatives.sets[0]) == LONG


def test_cumulate_with_many_absorbing_inputs_keeps_its_alternatives_bounded() -> None:
    result = interpret(Cumulate("all", "and"), [False] * 10_000, tracker=MemoryTracker("all"))
    alternatives = result.explain(9_999).alternatives
    assert alternatives.cut
    assert alternatives.sets[:2] == (frozenset({("log", 0)}), frozenset({("log", 1)}))
    assert len(alternatives.sets) == 64


def feed(interpreter: Interpreter, values: Iterable[Any]) -> Event:
    outputs = [interpreter.feed("log", value)[-1] for value in values]
    return outputs[-1].event


def test_slice_with_many_keys_under_and() -> None:
    keys = 100_000
    interpreter = Interpreter(
        Slice("per-case", by="case", of=lifecycle(), combine="and"), MemoryTracker()
    )
    last = feed(interpreter, ({"case": k, "action": "create"} for k in range(keys)))
    assert last.value is True
    true = Explanation(last)
    assert len(true.inputs) == keys  # the head of every slice
    assert len(true.support) == keys
    # One more event changes one path of the tree that all outputs share.
    again = feed(interpreter, [{"case": 5, "action": "approve"}])
    before, after = terms_below(last), terms_below((last, again))
    assert after - before < 60
    assert set(Explanation(again).inputs) == {("log", k) for k in (*range(keys), keys)}
    false = feed(interpreter, [{"case": 7, "action": "pay"}])
    assert false.value is False
    assert set(Explanation(false).inputs) == {("log", 7), ("log", keys + 1)}
    assert set(Explanation(false).support) == {("log", 7), ("log", keys + 1)}


@pytest.mark.parametrize("combine", ["add", "product", "min", "max", "count", "or"])
def test_slice_with_many_keys_under_other_functions(combine: str) -> None:
    keys = 10_000
    value = "x > 3" if combine == "or" else "x"
    chain = Slice("per", by="k", of=ApplyFunction("x", value), combine=combine)
    result = interpret(chain, ({"k": k, "x": 1} for k in range(keys)), tracker=MemoryTracker("all"))
    expected = {"add": keys, "count": keys, "or": False}.get(combine, 1)
    assert result.values[-1] == expected
    explanation = result.explain(keys - 1)
    assert len(explanation.support) == keys
    assert len(explanation.inputs) == (1 if combine in ("min", "max") else keys)
    if combine in ("min", "max"):
        assert explanation.alternatives.cut


def test_pending_verdicts_over_a_long_log() -> None:
    interpreter = Interpreter(G("always"), MemoryTracker())
    for _ in range(LONG):
        assert interpreter.feed("log", True) == []
    assert interpreter.pending() == {"always": LONG}
    outputs = interpreter.feed("log", False)
    assert len(outputs) == LONG + 1
    assert set(Explanation(outputs[0].event).inputs) == {("log", LONG)}


def test_a_moore_machine_over_a_long_log_explains_by_the_short_way() -> None:
    log = [{"action": ("approve", "pay")[k % 2]} for k in range(LONG)]
    result = interpret(lifecycle(), [{"action": "create"}, *log], tracker=MemoryTracker())
    assert set(result.explain(LONG).inputs) == {("log", 0), ("log", LONG - 1), ("log", LONG)}
    assert len(result.explain(LONG).support) == LONG + 1


def test_a_deep_mix_is_flattened_without_recursion() -> None:
    chain = Trim("skip", n=1) | Cumulate("sum", "add") | Cumulate("top", "max")
    result = interpret(chain, range(LONG // 10), tracker=MemoryTracker("all"))
    last = len(result.values) - 1
    assert len(result.explain(last).inputs) == last + 1
    assert len(result.explain(last).alternatives.sets[0]) == last + 1
