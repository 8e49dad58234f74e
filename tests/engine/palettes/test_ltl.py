"""G, F, X, U: verdicts once they are certain, explained by what decided them."""

from __future__ import annotations

from tests.engine.trying import refusal, try_out
from whence.engine import ApplyFunction, Filter, Interpreter, MemoryTracker, TurnInto
from whence.engine.formula import formula
from whence.engine.palettes.ltl import F, G, U, X
from whence.engine.testing import run

T, N = True, False


def test_globally_is_false_because_of_the_nearest_false() -> None:
    tried = try_out(G("g"), [T, N, T, None, T])
    assert tried.values == [N, N, N, N]
    assert tried.explained_by == tried.supported_by == [{1}, {1}, {3}, {3}]
    assert tried.moments == [1, 1, 3, 3]
    assert tried.open == {4}


def test_eventually_is_true_because_of_the_nearest_true() -> None:
    tried = try_out(F("f"), [N, T, None, N, T, N])
    assert tried.values == [T] * 5
    assert tried.explained_by == tried.supported_by == [{1}, {1}, {4}, {4}, {4}]
    assert tried.open == {5}


def test_next_is_the_event_after() -> None:
    tried = try_out(X("x"), [T, N, None, T])
    assert tried.values == [N, N, T]
    assert tried.explained_by == tried.supported_by == [{1}, {2}, {3}]
    assert tried.open == set()


def test_until_is_true_because_of_q_and_p_up_to_it() -> None:
    tried = try_out(U("u"), {"p": [T, T, N, T], "q": [N, N, T, N]})
    assert tried.values == [T, T, T]
    assert tried.explained_by == [{"p@0", "p@1", "q@2"}, {"p@1", "q@2"}, {"q@2"}]
    assert tried.open == {"p@3", "q@3"}


def test_until_is_false_because_of_p_and_q_up_to_it() -> None:
    tried = try_out(U("u"), {"p": [T, N], "q": [N, N]})
    assert tried.values == [N, N]
    assert tried.explained_by == [{"p@1", "q@0", "q@1"}, {"p@1", "q@1"}]


def test_closed_logs_get_the_verdicts_of_finite_traces() -> None:
    for operator, verdict in [(G("o"), T), (F("o"), N)]:
        tried = try_out(operator, [not verdict, verdict, verdict], closed=True)
        assert tried.values == [not verdict, verdict, verdict]
        assert tried.explained_by == [{0}, {1, 2}, {2}]
    tried = try_out(X("x"), [T, T], closed=True)
    assert (tried.values, tried.explained_by) == ([T, N], [{1}, {1}])
    tried = try_out(U("u"), {"p": [T, T], "q": [N, N]}, closed=True)
    assert tried.values == [N, N]
    assert tried.explained_by == [{"p@0", "p@1", "q@0", "q@1"}, {"p@1", "q@1"}]


def test_closing_behind_a_filter_is_supported_by_the_whole_run() -> None:
    chain = Filter("some", where="value != 1") | ApplyFunction("p", "value > 1") | G("g")
    tried = try_out(chain, [2, 1, 3], closed=True)
    assert tried.values == [T, T]
    assert tried.explained_by == [{0, 2}, {2}]
    assert tried.supported_by == [{0, 1, 2}, {0, 1, 2}]


def test_a_verdict_turned_into_something_leans_on_what_decided() -> None:
    tried = try_out(G("g") | TurnInto("one", value=1), [T, N])
    assert tried.values == [1, 1]
    assert tried.supported_by == [{1}, {1}]


def test_a_run_says_how_many_verdicts_are_pending() -> None:
    interpreter = Interpreter(G("always"), MemoryTracker())
    for value in (T, T, N, T):
        interpreter.feed("log", value)
    assert interpreter.pending() == {"always": 1}


def test_the_paper_s_formula_names_events_and_fields() -> None:
    rule = formula("G (p < 0 -> X (action = 'a' and X action = 'a'))")
    log = [{"action": a, "p": p} for a, p in [("b", 1), ("c", -2), ("a", 0), ("d", 0)]]
    assert run(rule, log) == [(N, {1, 3}), (N, {1, 3})]
    assert try_out(rule, log).names[0] == ["log@1.p", "log@3.action"]


def test_numbers_are_no_verdicts() -> None:
    for operator in (G("o"), F("o"), X("o")):
        assert refusal(lambda o=operator: try_out(o, [1])).startswith(  # type: ignore[misc]
            "o, position 0: expected a boolean; got integer 1"
        )
        chain = TurnInto("one", value=1) | operator
        assert "expected a boolean stream; got integer" in refusal(
            lambda c=chain: try_out(c, [1])  # type: ignore[misc]
        )
    assert refusal(lambda: G("a@b")).startswith("G: expected an id without")
