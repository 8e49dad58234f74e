"""Explanations in words: every processor has a template beside its explain rule."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.engine.examples import lifecycle
from tests.engine.random_chains import random_case, refusals_skipped
from whence.engine import (
    ApplyFunction,
    CountDecimate,
    Cumulate,
    Each,
    Filter,
    Fork,
    Freeze,
    Insert,
    Multiplex,
    Passthrough,
    Slice,
    Stutter,
    Trim,
    TurnInto,
    Window,
)
from whence.engine.formula import formula
from whence.engine.interpreter import interpret
from whence.engine.language.chain import Chain
from whence.engine.language.processor import Processor
from whence.engine.language.registry import processor_types
from whence.engine.lineage.steps import NOT_TOLD, Steps, steps_of
from whence.engine.lineage.tracker import MemoryTracker
from whence.engine.lineage.words import in_words
from whence.engine.palettes.ltl import F, G, U, X

TF = [True, False, True]
SAID: list[tuple[Processor, Any, int, bool, str]] = [
    (ApplyFunction("big", "x > 2"), [{"x": 1}], 0, False, "`x > 2` gives this for log@0 (x = 1)"),
    (Cumulate("c", "and"), TF, 2, False, "log@1 (false) is not true, and all inputs must be"),
    (Cumulate("c", "or"), [False, False], 1, False, "no input so far is true: log@0 (false)"),
    (Cumulate("c", "product"), [2, 0, 3], 2, False, "log@1 (0) is zero, and one is enough"),
    (Cumulate("c", "min"), [2, 1, 3], 2, False, "log@1 (1) is the smallest so far"),
    (Cumulate("c", "max"), [2, 1, 3], 1, False, "log@0 (2) is the largest so far"),
    (Cumulate("c", "add"), [2, 1], 1, False, "add folds log@0 (2) and log@1 (1)"),
    (Cumulate("c", "and", start=False), TF, 0, False, "it is the start value"),
    (CountDecimate("c", 2), [1, 2, 3], 1, False, "one of every 2 events passes: log@2 (3)"),
    (Trim("t", 1), [1, 2], 0, False, "it is log@1 (2), after the first 1 were dropped"),
    (
        Filter("f", where="value > 1"),
        [1, 2],
        0,
        False,
        "it passes the filter `value > 1`: log@1 (2)",
    ),
    (Fork("f", 2), [1], 0, False, "it is a copy of log@0 (1)"),
    (Passthrough("p"), [1], 0, False, "it is log@0 (1), unchanged"),
    (TurnInto("t", "x"), [1], 0, False, "every event gives this value, here log@0 (1)"),
    (Freeze("f"), [1, 2], 1, False, "the first event is repeated: log@0 (1)"),
    (Insert("i", 1, 9), [1], 0, False, "it comes before any input"),
    (Insert("i", 1, 9), [1], 1, False, "it is log@0 (1)"),
    (Stutter("s", 2), [1], 1, False, "it repeats log@0 (1)"),
    (Each("e", "x > 1", "true"), [{"x": 1}], 0, False, "`x > 1` does not hold: log@0 (x = 1)"),
    (Window("w", 2, Cumulate("p", "product")), [0, 2], 0, False, "the window of 2 events"),
    (G("g"), TF, 0, False, "it should always hold, and log@1 (false) is false"),
    (G("g"), TF, 2, True, "nothing was false until the log was closed: log@2 (true)"),
    (F("f"), TF, 1, False, "it should hold at some time, and log@2 (true) is true"),
    (F("f"), [False], 0, True, "nothing was true until the log was closed: log@0 (false)"),
    (X("x"), TF, 0, False, "the next event decides: log@1 (false)"),
    (
        U("u"),
        {"p": [True], "q": [True]},
        0,
        False,
        "the first input held until the second came: q@0",
    ),
    (
        U("u"),
        {"p": [False], "q": [False]},
        0,
        False,
        "the first input did not hold until the second",
    ),
    (Multiplex("m"), {"p": [1], "q": [2]}, 1, False, "it is q@0 (2), unchanged"),
]


@pytest.mark.parametrize(("processor", "log", "at", "closed", "because"), SAID)
def test_each_processor_says_why(
    processor: Processor, log: Any, at: int, closed: bool, because: str
) -> None:
    chain = Chain.graph(list(log), [(processor, list(log))]) if isinstance(log, dict) else None
    chain = chain or Chain.of(processor)
    result = interpret(chain, log, tracker=MemoryTracker(), closed=closed)
    event = result.explain(at, chain.outputs[0]).event
    sentence = in_words(steps_of(event), chain)[0]
    assert f" because {because}" in sentence


def test_a_life_cycle_tells_its_way_and_since_when() -> None:
    rows = ["A create", "B create", "A approve", "B pay", "A pay"]
    log = [dict(zip(("case", "action"), row.split(), strict=True)) for row in rows]
    chain = Chain.of(Slice("per-case", by="case", of=lifecycle(), combine="and"))
    result = interpret(chain, log, tracker=MemoryTracker())
    assert in_words(steps_of(result.explain(4).event), chain, since=3)[:2] == [
        "per-case@4 is false since event 3 because one slice fails, and all must hold: "
        "per-case/order@3 (false)",
        "per-case/order@3 is false because it was new, became open with log@1 (action = create), "
        "then became violation with log@3 (action = pay), for which open has no transition",
    ]


def test_what_is_not_told_is_not_said() -> None:
    """Neither a value nor why it would be so; a state machine then names its events alone."""
    log = [{"case": "A", "action": "create"}, {"case": "A", "action": "pay"}]
    chain = Chain.of(Slice("per-case", by="case", of=lifecycle(), combine="and"))
    found = steps_of(interpret(chain, log, tracker=MemoryTracker()).explain(1).event)
    inner = {name: replace(step, value=NOT_TOLD) for name, step in found.steps.items()}
    kept = {**inner, found.output: found.steps[found.output]}
    assert in_words(Steps(found.output, kept, found.below), chain)[:2] == [
        "per-case@1 is false because one slice fails, and all must hold: per-case/order@1",
        "per-case/order@1 follows from log@1 and per-case/order@0",
    ]
    machine = Chain.of(lifecycle())
    found = steps_of(interpret(machine, log, tracker=MemoryTracker()).explain(1).event)
    kept = {
        name: replace(step, value=NOT_TOLD) if step.is_input else step
        for name, step in found.steps.items()
    }
    assert in_words(Steps(found.output, kept, found.below), machine)[0] == (
        "order@1 is false because log@0 and log@1 led to its state, in this order"
    )


def test_every_processor_has_a_template_of_its_own() -> None:
    """A Group says nothing: its inside does; a user's processor has the default."""
    without = [
        kind.__name__
        for kinds in processor_types().values()
        for kind in kinds
        if kind.because is Processor.because and kind.tag not in ("group", "python")
    ]
    assert without == []


@pytest.mark.parametrize("seed", range(40))
def test_any_explanation_can_be_said(seed: int) -> None:
    case = random_case(seed)
    chain = case.chain()
    with refusals_skipped():
        result = interpret(chain, case.logs, tracker=MemoryTracker(), closed=case.closed)
    for output in result.outputs[-5:]:
        found = steps_of(output.event)
        sentences = in_words(found, chain, since=0, most=3)
        assert len(sentences) <= 4
        assert sentences[0].startswith(f"{found.output} is ")
        assert " since event 0 because " in sentences[0]
        assert all("\n" not in sentence for sentence in sentences)
        said = sum(not step.is_input for step in found.steps.values())
        if said > 3:
            left = said - 3
            assert sentences[-1] == f"… and {left:,} more {'step' if left == 1 else 'steps'}"


def test_formulas_are_said_operator_by_operator() -> None:
    chain = Chain.of(formula("G (p < 0 -> X action = 'a')"))
    log = [{"p": 1, "action": "b"}, {"p": -2, "action": "c"}, {"p": 0, "action": "d"}]
    result = interpret(chain, log, tracker=MemoryTracker())
    said = "\n".join(in_words(steps_of(result.explain(0).event), chain))
    assert "it should always hold" in said
    assert "the next event decides" in said
    assert "log@1 (p = -2)" in said
    assert "log@2 (action = d)" in said
    assert "`$0 -> $1` ($0 is its first input, $1 its second) gives this for" in said
