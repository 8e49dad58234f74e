"""How fast the reference is: events per second on one core, with and without tracking."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from random import Random
from typing import Any

from bench import Bench
from bench.harness import quick
from whence.engine import ApplyFunction, Chain, Cumulate, MemoryTracker, Slice, Window, interpret
from whence.engine.formula import formula
from whence.engine.palettes.fsm import MooreMachine

EVENTS = 20_000 if quick() else 100_000


def window() -> Chain:
    """Is the product of every three events in a row other than zero?"""
    three = Window("three", n=3, of=Cumulate("product", "product"))
    return three | ApplyFunction("not-zero", "value != 0")


def lifecycle() -> Chain:
    """Does every case follow a, (b c)*, b d?"""
    machine = MooreMachine(
        "order",
        initial="0",
        states={"0": True, "1": True, "2": True, "3": True, "4": False},
        transitions=[
            ("0", "action = 'a'", "1"),
            ("1", "action = 'b'", "2"),
            ("2", "action = 'c'", "1"),
            ("2", "action = 'd'", "3"),
        ],
        otherwise={state: "4" for state in "01234"},
    )
    return Chain.of(Slice("per-case", by="case", of=machine, combine="and"))


def temporal() -> Chain:
    """Whenever p is negative, are the next two actions a?"""
    return Chain.of(formula("G (p < 0 -> X (action = 'a' and X action = 'a'))"))


def numbers() -> list[Any]:
    """One event in twenty is zero."""
    random = Random(1)
    return [0 if random.random() < 0.05 else random.randint(1, 9) for _ in range(EVENTS)]


def cases() -> list[Any]:
    """A thousand cases at a time, each going around its loop."""
    random = Random(2)
    states: dict[int, str] = {}
    following = {"": "a", "a": "b", "b": "c", "c": "b"}
    log = []
    for _ in range(EVENTS):
        case = random.randrange(1000)
        states[case] = following[states.get(case, "")]
        log.append({"case": case, "action": states[case]})
    return log


def actions() -> list[Any]:
    """Two events in a hundred have a negative p."""
    random = Random(3)
    return [
        {
            "p": -1 if random.random() < 0.02 else 1,
            "action": "a" if random.random() < 0.9 else "b",
        }
        for _ in range(EVENTS)
    ]


bench = Bench("Thousand events a second, one core, one event at a time")


def _declare(name: str, make: Callable[[], Chain], log: Callable[[], list[Any]]) -> None:
    events = log()

    def measured(tracked: bool) -> Callable[[None], float]:
        def run(_: None) -> float:
            gc.collect()
            started = time.perf_counter()
            interpret(make(), events, tracker=MemoryTracker() if tracked else None)
            return len(events) / (time.perf_counter() - started) / 1000

        return run

    bench.variant(f"{name}.untracked", "k events/s")(measured(False))
    bench.variant(f"{name}.tracked", "k events/s")(measured(True))
    bench.ratio(f"{name}.tracked.vs_untracked", f"{name}.tracked", f"{name}.untracked")


for _name, _make, _log in (
    ("window", window, numbers),
    ("lifecycle", lifecycle, cases),
    ("temporal", temporal, actions),
):
    _declare(_name, _make, _log)
