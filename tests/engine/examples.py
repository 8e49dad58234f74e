"""One example or more of every processor type: what the conformance suite is multiplied over."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from whence.engine import (
    ApplyFunction,
    Chain,
    CountDecimate,
    Cumulate,
    Each,
    Filter,
    Fork,
    Freeze,
    Group,
    Insert,
    Multiplex,
    Passthrough,
    Slice,
    Stutter,
    Trim,
    TurnInto,
    Window,
)
from whence.engine.language.processor import Processor
from whence.engine.palettes.fsm import MooreMachine
from whence.engine.palettes.ltl import F, G, U, X

__all__ = ["EXAMPLES", "Example", "lifecycle"]


@dataclass(frozen=True)
class Example:
    """A processor with logs that make it speak."""

    name: str
    processor: Processor
    logs: dict[str, list[Any]] = field(hash=False)
    closed: bool = False

    @property
    def chain(self) -> Chain:
        """A chain of just this processor, over the logs' names."""
        names = tuple(self.logs)
        return Chain.graph(names, [(self.processor, names)])


def lifecycle(id: str = "order") -> MooreMachine:
    """Create, then approve, then pay, any number of times; anything else is a violation."""
    return MooreMachine(
        id,
        initial="new",
        states={"new": True, "open": True, "approved": True, "violation": False},
        transitions=[
            ("new", "action = 'create'", "open"),
            ("open", "action = 'approve'", "approved"),
            ("approved", "action = 'pay'", "open"),
        ],
        otherwise=dict.fromkeys(("new", "open", "approved", "violation"), "violation"),
    )


NUMBERS = {"log": [3, 0, -1, 2, 5, None, 0, 4]}
TIMED = {
    "log": [
        {"case": c, "a": a, "b": not a, "t": t}
        for c, a, t in [("A", True, 0), ("B", True, 2), ("A", False, 3), ("B", True, 9)]
    ]
}
BOOLEANS = {"log": [True, True, False, True, False, False, True, True]}
RECORDS = {
    "log": [
        {"case": c, "action": a, "x": x}
        for c, a, x in [
            ("A", "create", 1),
            ("B", "create", 2),
            ("A", "approve", 0),
            (None, "create", 4),
            ("B", "pay", 5),
            ("A", "pay", None),
            ("C", "create", 3),
        ]
    ]
}
PAIR = {"p": [True, True, False, True, True], "q": [False, True, True, False, False, True]}
EVENTS: dict[str, list[Any]] = {
    "p": ["a", "b", "c", "d", "e"],
    "q": [True, False, None, True, True, False],
}
SILENT = MooreMachine(
    "quiet",
    initial="low",
    states={"high": "high"},
    transitions=[("low", "value > 2", "high"), ("high", "value <= 0", "low")],
    otherwise={"low": "low", "high": "high"},
)
TRIMMED = Trim("skip", n=1) | Cumulate("sum", "add")

EXAMPLES = (
    Example("apply", ApplyFunction("positive", "value > 0"), NUMBERS),
    Example("apply over two pipes", ApplyFunction("both", "$0 and $1"), PAIR),
    Example("cumulate", Cumulate("sum", "add"), {"log": [3, -1, 2, 5]}),
    Example("cumulate with a start", Cumulate("sum", "add", start=7), {"log": [3, -1, 2]}),
    Example("cumulate product", Cumulate("product", "product"), NUMBERS),
    Example("cumulate and", Cumulate("all", "and"), BOOLEANS),
    Example("cumulate max", Cumulate("top", "max"), {"log": [3, 0, 7, 7, 2]}),
    Example("decimate", CountDecimate("some", n=3), NUMBERS),
    Example("trim", Trim("skip", n=2), NUMBERS),
    Example("filter", Filter("keep"), EVENTS),
    Example("filter where", Filter("positive", where="value > 0"), NUMBERS),
    Example("fork", Fork("both", m=2), NUMBERS),
    Example("turn into", TurnInto("one", value=1), NUMBERS),
    Example("passthrough", Passthrough("same"), NUMBERS),
    Example("group", Group("late", TRIMMED), {"log": [3, -1, 2, 5]}),
    Example("window", Window("three", n=3, of=Cumulate("product", "product")), NUMBERS),
    Example("window of a filter", Window("w", n=2, of=Filter("f", where="value > 2")), NUMBERS),
    Example("slice", Slice("per-case", by="case", of=lifecycle(), combine="and"), RECORDS),
    Example("slice to a map", Slice("sums", by="case", of=ApplyFunction("x", "x")), RECORDS),
    Example(
        "slice of a verdict, first",
        Slice("ok", by="value", of=ApplyFunction("p", "value > 0") | G("g"), take="first"),
        {"log": [1, 2, 1, 0]},
        closed=True,
    ),
    Example("freeze", Freeze("first"), NUMBERS),
    Example("insert", Insert("before", n=2, value=9), NUMBERS),
    Example("stutter", Stutter("echo", n=2), NUMBERS),
    Example("each", Each("answered", must="F[..5s] b", when="a", time="t"), TIMED, True),
    Example("each past", Each("known", must="O[..5s] b", when="a", time="t"), TIMED),
    Example(
        "slice each",
        Slice("all", "case", Each("answered", must="F[..5s] b", when="a", time="t"), "each"),
        TIMED,
        True,
    ),
    Example("slice each of anything", Slice("all", "case", Trim("skip", n=1), "each"), TIMED),
    Example("multiplex", Multiplex("mix"), PAIR),
    Example("moore", lifecycle(), RECORDS),
    Example("moore with silent states", SILENT, {"log": [1, 3, 0, 5, 6, 0, 1]}),
    Example("G", G("always"), BOOLEANS),
    Example("G closed", G("always"), BOOLEANS, closed=True),
    Example("F", F("sometime"), BOOLEANS),
    Example("F closed", F("sometime"), {"log": [True, False, False]}, closed=True),
    Example("X", X("next"), BOOLEANS),
    Example("X closed", X("next"), BOOLEANS, closed=True),
    Example("U", U("until"), PAIR),
    Example("U closed", U("until"), {"p": [True] * 4, "q": [False] * 4}, closed=True),
)
