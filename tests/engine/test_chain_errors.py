"""Chains that do not fit together are refused when they are built, with the candidates."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from whence.engine import (
    ApplyFunction,
    Chain,
    Cumulate,
    Filter,
    Fork,
    Interpreter,
    Log,
    MemoryTracker,
    Passthrough,
    Slice,
    Trim,
    TurnInto,
    Window,
    interpret,
)
from whence.engine.errors import ChainError, ParameterError, WhenceError
from whence.engine.language.processor import Processor
from whence.engine.palettes.fsm import MooreMachine
from whence.engine.palettes.ltl import G

LOGS = {"log": Log(columns={"amount": "integer", "name": "text"})}


def declared(processor: Processor) -> Chain:
    return Chain.graph(["log"], [(processor, ["log"])], logs=LOGS)


def after(first: Processor, second: Processor) -> Chain:
    return Chain.graph(["log"], [(first, ["log"]), (second, [first.id])], logs=LOGS)


BUILT: dict[str, tuple[Callable[[], object], str]] = {
    "a cycle": (
        lambda: Chain.graph(
            ["log"], [(ApplyFunction("a", "$0 and $1"), ["log", "b"]), (Passthrough("b"), ["a"])]
        ),
        "a chain: expected no cycle; got a -> b -> a; "
        "try Insert to use a previous value, or Cumulate",
    ),
    "a cycle beside a sound output": (
        lambda: Chain.graph(
            ["log"],
            [(Passthrough("a"), ["b"]), (Passthrough("b"), ["a"]), (Passthrough("c"), ["log"])],
        ),
        "a chain: expected no cycle; got a -> b -> a; "
        "try Insert to use a previous value, or Cumulate",
    ),
    "a processor that reads itself": (
        lambda: Chain.graph(["log"], [(Passthrough("a"), ["a"])], ["a"]),
        "a chain: expected no cycle; got a -> a; try Insert to use a previous value, or Cumulate",
    ),
    "a free pipe": (
        lambda: Chain.graph(["log"], [(Filter("keep"), ["log"])]),
        "Filter 'keep': expected 2 inputs; got 1 (a pipe is free); try connecting to log",
    ),
    "a pipe too many": (
        lambda: Chain.graph(["p", "q"], [(Trim("skip", n=1), ["p", "q"])]),
        "Trim 'skip': expected 1 input; got 2; try connecting to p, q",
    ),
    "a double id": (
        lambda: Trim("skip", n=1) | Trim("skip", n=2),
        "a chain: expected ids that differ; got 'skip' twice; try another id",
    ),
    "an id that is a log's": (
        lambda: Chain.graph(["log"], [(Trim("log", n=1), ["log"])]),
        "a chain: expected ids that differ; got 'log' twice; try another id",
    ),
    "an unknown source": (
        lambda: Chain.graph(["log"], [(Trim("total", n=1), ["log"]), (Trim("b", n=1), ["totl"])]),
        "Trim 'b': expected a known name to read; got 'totl'; try 'total' (did you mean that?)",
    ),
    "a fork without its pipe": (
        lambda: Chain.graph(["log"], [(Fork("f", m=2), ["log"]), (Trim("b", n=1), ["f"])]),
        "Trim 'b': expected a pipe of 'f', which has 2; got 'f'; try f.0 or f.1",
    ),
    "a fork's pipe that is not there": (
        lambda: Chain.graph(["log"], [(Fork("f", m=2), ["log"]), (Trim("b", n=1), ["f.3"])]),
        "Trim 'b': expected one of f.0, f.1; got 'f.3'; try a pipe below 2",
    ),
    "a line of two pipes": (
        lambda: Trim("a", n=1) | Filter("keep"),
        "`|`: expected one pipe to connect; got log0, log1; try Chain.graph",
    ),
    "no processor": (
        lambda: Chain(("log",), (), ()),
        "a chain: expected an output; got none; try `output: NAME`",
    ),
    "something else": (
        lambda: Chain.of(3),  # type: ignore[arg-type]
        "a chain: expected a processor or a chain; got 3; try Trim('skip', n=1)",
    ),
    "a window of two pipes": (
        lambda: Window("w", n=2, of=Fork("f", m=2)),
        "Window 'w': expected P with one output pipe; got ('f.0', 'f.1'); try output: NAME",
    ),
}


@pytest.mark.parametrize("name", BUILT)
def test_it_is_refused_when_it_is_built(name: str) -> None:
    build, message = BUILT[name]
    with pytest.raises(WhenceError) as caught:
        build()
    assert str(caught.value) == message


CHECKED: dict[str, tuple[Chain, str]] = {
    "in a function": (
        declared(ApplyFunction("big", "amuont > 3")),
        "ApplyFunction 'big': expected a field of the log; got 'amuont'; "
        "try 'amount' (did you mean that?)",
    ),
    "in a filter": (
        declared(Filter("some", where="nam = 'a'")),
        "Filter 'some': expected a field of the log; got 'nam'; try 'name' (did you mean that?)",
    ),
    "in a guard": (
        declared(MooreMachine("m", "s", {"s": 1}, [("s", "nam = 'a'", "s")], {"s": "s"})),
        "MooreMachine 'm': expected a field of the log; got 'nam'; try 'name' (did you mean that?)",
    ),
    "in a key": (
        declared(Slice("per", by="zzz", of=Passthrough("p"))),
        "Slice 'per': expected a field of the log; got 'zzz'; try one of amount, name",
    ),
    "behind copies": (
        after(Window("w", n=2, of=Filter("f", where="amount > 0")), ApplyFunction("z", "nmae")),
        "ApplyFunction 'z': expected a field of the log; got 'nmae'; "
        "try 'name' (did you mean that?)",
    ),
    "text and number": (
        declared(ApplyFunction("big", "name > 3")),
        "ApplyFunction 'big': expected two values of one kind; got number and text; "
        "try declaring the column's type, e.g. --type name=integer",
    ),
    "a verdict over numbers": (
        after(TurnInto("one", value=1), G("g")),
        "G 'g': expected a boolean stream; got integer; try a comparison such as `x > 0` before",
    ),
    "a sum of texts": (
        after(ApplyFunction("n", "name"), Cumulate("total", "add")),
        "Cumulate 'total': expected a number; got text; "
        "try declaring the column's type, e.g. --type NAME=integer",
    ),
}


@pytest.mark.parametrize("name", CHECKED)
def test_fields_and_kinds_are_checked_before_any_event(name: str) -> None:
    chain, message = CHECKED[name]
    with pytest.raises(ChainError) as caught:
        chain.check()
    assert str(caught.value) == message
    with pytest.raises(ChainError, match="expected"):
        interpret(chain, [])


def test_an_undeclared_log_is_checked_event_by_event() -> None:
    assert interpret(ApplyFunction("big", "amuont > 3"), [{"amount": 1}]).values == [False]


ASKED: dict[str, tuple[Callable[[], object], str]] = {
    "an unknown log": (
        lambda: interpret(Trim("t", n=1), {"lgo": []}),
        "the logs: expected log; got lgo; try naming each log as the chain does",
    ),
    "an event of an unknown log": (
        lambda: Interpreter(Trim("t", n=1)).feed("lgo", 1),
        "a log: expected one of log; got 'lgo'; try one of these",
    ),
    "an output that is not there": (
        lambda: interpret(Trim("t", n=1), [1, 2], tracker=MemoryTracker()).explain(7),
        "an output: expected a position, 0 to 0; got 7; try one in this range",
    ),
    "an explanation of an untracked run": (
        lambda: interpret(Trim("t", n=1), [1, 2]).explain(0),
        "an explanation: expected a tracked run; got one without a tracker; "
        "try tracker=MemoryTracker()",
    ),
    "an unknown pipe": (
        lambda: interpret(Trim("t", n=1), [1, 2]).of("q"),
        "an output: expected one of t; got 'q'; try one of these",
    ),
    "what is open of an unknown pipe": (
        lambda: interpret(Trim("t", n=1), [1]).interpreter.open_inputs("q"),
        "an output: expected one of t; got 'q'; try one of these",
    ),
    "a kind of witnesses": (
        lambda: MemoryTracker("some"),  # type: ignore[arg-type]
        "a tracker: expected witnesses first or all; got 'some'; try 'first'",
    ),
}


@pytest.mark.parametrize("name", ASKED)
def test_a_question_that_has_no_answer_is_refused(name: str) -> None:
    ask, message = ASKED[name]
    with pytest.raises((ChainError, ParameterError)) as caught:
        ask()
    assert str(caught.value) == message
