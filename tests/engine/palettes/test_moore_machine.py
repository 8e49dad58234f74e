"""MooreMachine: the symbol of the state reached, explained by the loop-free way to it."""

from __future__ import annotations

from collections.abc import Mapping

from tests.engine.trying import refusal, try_out
from whence.engine import ApplyFunction
from whence.engine.palettes.fsm import MooreMachine

PAPER = MooreMachine(
    "abcd",
    initial="0",
    states={"0": True, "1": True, "2": True, "3": True, "4": False},
    transitions=[
        ("0", "value = 'a'", "1"),
        ("1", "value = 'b'", "2"),
        ("2", "value = 'c'", "1"),
        ("2", "value = 'd'", "3"),
    ],
    otherwise=dict.fromkeys("01234", "4"),
)


def quiet(symbols: Mapping[str, object]) -> MooreMachine:
    return MooreMachine(
        "quiet",
        initial="low",
        states=symbols,
        transitions=[("low", "value > 2", "high"), ("high", "value <= 0", "low")],
        otherwise={"low": "low", "high": "high"},
    )


def test_the_specification_s_example() -> None:
    tried = try_out(PAPER, ["a", "b", "c", "b"])
    assert tried.values == [True] * 4
    assert tried.explained_by == [{0}, {0, 1}, {0, 1, 2}, {0, 3}]
    assert tried.supported_by == [{0}, {0, 1}, {0, 1, 2}, {0, 1, 2, 3}]
    assert tried.open == set()


def test_in_a_trap_inputs_explain_but_no_longer_support() -> None:
    tried = try_out(PAPER, ["a", "x", "y", "z"])
    assert tried.values == [True, False, False, False]
    assert tried.explained_by == [{0}, {0, 1}, {0, 1, 2}, {0, 1, 3}]
    assert tried.supported_by == [{0}, {0, 1}, {0, 1}, {0, 1}]


def test_guards_are_tried_in_the_order_written() -> None:
    both = MooreMachine(
        "both",
        "s",
        {"s": 0, "one": 1, "two": 2},
        [("s", "value > 0", "one"), ("s", "value > 1", "two")],
        {"s": "s", "one": "one", "two": "two"},
    )
    assert try_out(both, [5]).values == [1]


def test_the_fields_that_guards_read_are_named() -> None:
    door = MooreMachine(
        "door",
        "shut",
        {"shut": True, "open": False},
        [("shut", "action = 'open' and force > 3", "open"), ("open", "true", "open")],
        {"shut": "shut", "open": "open"},
    )
    tried = try_out(door, [{"action": "pull", "force": 9}, {"action": "open", "force": 9}])
    assert tried.values == [True, False]
    assert tried.names[0] == ["log@0.action"]
    assert tried.names[1] == ["log@1.action", "log@1.force"]


def test_a_state_without_symbol_says_nothing_and_existence_rests_on_all_inputs() -> None:
    tried = try_out(quiet({"high": "high"}), [1, 3, 4, 0])
    assert tried.values == ["high", "high"]
    assert tried.explained_by == [{1}, {1, 2}]  # back in its first state, input 0 is forgotten
    assert tried.supported_by == [{0, 1}, {0, 1, 2}]
    assert tried.open == {0, 1, 2, 3}


def test_a_missing_symbol_is_a_symbol() -> None:
    tried = try_out(quiet({"high": "high", "low": None}), [1, 3])
    assert tried.values == [None, "high"]
    assert tried.open == set()


def test_a_missing_input_fails_comparisons_and_takes_otherwise() -> None:
    assert try_out(PAPER, ["a", None]).values == [True, False]


def test_guards_over_computed_values_reach_the_inputs() -> None:
    tried = try_out(ApplyFunction("twice", "value * 2") | quiet({"high": 1, "low": 0}), [1, 3])
    assert tried.values == [0, 1]
    assert tried.supported_by == [{0}, {0, 1}]


def test_bad_parameters_are_refused() -> None:
    assert refusal(lambda: MooreMachine("m", "z", {"a": 1}, [("a", "true", "a")])).startswith(
        "MooreMachine 'm': expected an initial state with transitions; got 'z'"
    )
    assert refusal(lambda: MooreMachine("m", "a", {"a": 1}, [("a", "true", "b")])).startswith(
        "MooreMachine 'm': expected a way on from every state that is reached; got ['b']"
    )
    assert refusal(lambda: MooreMachine("m", "a", {}, [("a", "b")])).startswith(  # type: ignore[list-item]
        "MooreMachine 'm': expected transitions [from, guard, to]; got ('a', 'b')"
    )
    assert refusal(lambda: MooreMachine("m", "a", {"a": 1}, [("a", "$1 > 0", "a")])).startswith(
        "MooreMachine 'm': expected guards over the input event; got 2"
    )
    number = MooreMachine("m", "a", {"a": 1}, [("a", "3", "a")], {"a": "a"})
    assert refusal(lambda: try_out(number, [1])).startswith(
        "MooreMachine 'm': expected a boolean guard from 'a' to 'a'; got integer"
    )
