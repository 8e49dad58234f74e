"""The attack on supports finds a rule that was weakened on purpose; else it would prove nothing."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from tests.engine.corruption import Attack, Broken
from tests.engine.random_chains import random_case
from whence.engine.aggregates import Aggregate
from whence.engine.errors import WhenceError
from whence.engine.functions import arithmetic
from whence.engine.interpreter.instance import GraphInstance
from whence.engine.palettes.fsm import moore_machine
from whence.engine.palettes.ltl import globally, operator
from whence.engine.processors import filter as filter_file
from whence.engine.processors import multiplex, turn_into, window
from whence.engine.processors import slice as slice_file

MOST_CASES = 4000


def emit_without(part: str) -> Callable[[Any], Any]:
    """A machine's ``emit`` that forgets one of its terms."""

    def weaken(original: Any) -> Any:
        def emit(
            self: Any, value: Any, why: Any = None, support: Any = None, exists: Any = None
        ) -> Any:
            terms = {"why": why, "support": support, "exists": exists, part: None}
            return original(self, value, **terms)

        return emit

    return weaken


def nothing(original: Any) -> Any:
    """A rule that forgets everything."""
    return lambda *_arguments, **_options: None


def just_the_pick(original: Any) -> Any:
    """A support rule that takes what explains for enough."""
    return lambda _self, pick, may_vanish: pick


def only_the_heads(original: Any) -> Any:
    """A Slice's rule that takes its heads for enough, whatever P is."""
    return lambda _self, heads, inputs: (heads, None)


Weakened = tuple[Any, str, Callable[[Any], Any], tuple[str, ...]]

WEAKENED: dict[str, Weakened] = {
    "filter forgets earlier conditions": (
        filter_file._Filter,
        "emit",
        emit_without("exists"),
        ("filter", "trim"),
    ),
    "filter is never open": (filter_file._Filter, "open", nothing, ("filter",)),
    "min and max lean on the pick": (
        arithmetic._Attains,
        "support",
        just_the_pick,
        ("apply", "decimate"),
    ),
    "a zero alone supports a product": (
        arithmetic._Zero,
        "support",
        just_the_pick,
        ("apply",),
    ),
    "moore leans on what explains": (
        moore_machine._Moore,
        "emit",
        emit_without("support"),
        ("moore",),
    ),
    "moore is never open": (moore_machine._Moore, "open", nothing, ("moore",)),
    "G forgets what decided": (
        globally._G,
        "emit",
        emit_without("exists"),
        ("ltl", "turn_into", "apply"),
    ),
    "verdicts are never open": (operator.OperatorMachine, "open", nothing, ("ltl",)),
    "closing behind an irregular pipe": (
        operator.OperatorMachine,
        "_closed",
        nothing,
        ("ltl", "turn_into", "filter"),
    ),
    "multiplex forgets the front": (
        multiplex._Multiplex,
        "emit",
        emit_without("exists"),
        ("multiplex", "filter", "turn_into"),
    ),
    "turn_into forgets its trigger": (
        turn_into._TurnInto,
        "emit",
        emit_without("exists"),
        ("turn_into", "filter"),
    ),
    "a window leans on its last output": (
        window._Window,
        "emit",
        emit_without("support"),
        ("window", "filter"),
    ),
    "a slice leans on the slices picked": (
        slice_file.SliceMachine,
        "emit",
        emit_without("support"),
        ("slice", "filter"),
    ),
    "a slice closes for no reason": (
        slice_file.SliceMachine,
        "_why_once_more",
        nothing,
        ("slice", "ltl", "turn_into", "trim"),
    ),
    "a slice is never open": (
        slice_file.SliceMachine,
        "open",
        nothing,
        ("slice", "ltl", "apply", "filter"),
    ),
    "silent slices never matter": (
        Aggregate,
        "terms",
        only_the_heads,
        ("slice", "filter", "cumulate"),
    ),
    "ends lean on nothing": (GraphInstance, "end", nothing, ("filter",)),
}


def first_break(cases: int, tags: tuple[str, ...]) -> int | None:
    """The number of corruptions until a promise breaks."""
    count = 0
    for seed in range(cases):
        random = Random(seed)
        try:
            attack = Attack(random_case(seed, tags), random)
        except WhenceError:
            continue
        choices = attack.choices()
        for _ in range(4):
            cells = next(choices, None)
            if cells is None:
                break
            count += 1
            if isinstance(attack.run_again(cells), Broken):
                return count
    return None


@pytest.mark.parametrize("name", WEAKENED)
def test_a_weakened_rule_is_found_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, attribute, weaken, tags = WEAKENED[name]
    monkeypatch.setattr(owner, attribute, weaken(getattr(owner, attribute)), raising=True)
    count = first_break(MOST_CASES, tags)
    assert count is not None, f"{name}: nobody noticed"
    print(f"{name}: found out after {count} corruptions")
