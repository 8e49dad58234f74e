"""The three queries, relatives of them, and the logs that they run on."""

from __future__ import annotations

import sys
import time
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from whence.engine import ApplyFunction, Chain, Cumulate, Slice, Window
from whence.engine.formula import formula
from whence.engine.palettes.fsm import MooreMachine
from whence.engine.runners.local_kernels import BATCH
from whence.engine.values.arrow_compute import pc

__all__ = ["BATCH", "PROTOTYPES", "QUERIES", "Arrays", "Query", "again", "fixed_cases", "prototype"]

THEIRS = 65_536
"""Events a batch, of the prototypes: what they were written for."""
PROTOTYPES = Path(__file__).parents[3] / "shared" / "prototypes"
OPEN = 1000
"""Cases at a time."""

Arrays = dict[str, Any]


@dataclass(frozen=True)
class Query:
    """A chain, another of the same size, and the log for both."""

    own: Callable[[], Chain]
    relative: Callable[[], Chain]
    log: Callable[..., Arrays]


def window() -> Chain:
    """Is the product of every three events in a row other than zero?"""
    three = Window("three", n=3, of=Cumulate("product", "product"))
    return three | ApplyFunction("not-zero", "value != 0")


def wider_window() -> Chain:
    """Is the sum of every five events in a row other than zero?"""
    return Window("five", n=5, of=Cumulate("sum", "add")) | ApplyFunction("not-zero", "value != 0")


def ltl() -> Chain:
    """Whenever p is negative, are the next two actions a? The comparisons are made already."""
    return Chain.of(formula("G(negative -> X(a and X a))"))


def other_ltl() -> Chain:
    """Another formula of the same size."""
    return Chain.of(formula("G(negative -> X(a or X(not a)))"))


_STEPS = [("0", "a", "1"), ("1", "b", "2"), ("2", "c", "3"), ("3", "b", "2"), ("3", "d", "4")]


def lifecycle() -> Chain:
    """Does every case follow a(bc)+d? Whatever comes otherwise leads into a trap."""
    return _per_case(_STEPS)


def again() -> Chain:
    """Does every case follow (a(bc)+d)*? For a log whose cases begin again."""
    return _per_case([*_STEPS, ("4", "a", "1")])


def _per_case(steps: list[tuple[str, str, str]]) -> Chain:
    machine = MooreMachine(
        "order",
        initial="0",
        states={**dict.fromkeys("01234", True), "5": False},
        transitions=[(start, f"activity = '{sign}'", to) for start, sign, to in steps],
        otherwise=dict.fromkeys("012345", "5"),
    )
    return Chain.of(Slice("per-case", by="case", of=machine, combine="and"))


def longer_lifecycle() -> Chain:
    """The same with a machine of twelve states."""
    names = [f"s{n}" for n in range(11)]
    steps = [(names[n], "abcd"[n % 4], names[n + 1]) for n in range(10)]
    machine = MooreMachine(
        "order",
        initial="s0",
        states={**dict.fromkeys(names, True), "lost": False},
        transitions=[(start, f"activity = '{sign}'", to) for start, sign, to in steps],
        otherwise={**{name: name for name in names}, "lost": "lost"},
    )
    return Chain.of(Slice("per-case", by="case", of=machine, combine="and"))


def numbers(count: int, seed: int = 0) -> Arrays:
    """One event in twenty is zero."""
    random = np.random.default_rng(seed)
    values = random.integers(1, 10, count).astype(np.int64)
    values[random.random(count) < 0.05] = 0
    return {"value": values}


def conditions(count: int, seed: int = 2) -> Arrays:
    """One event in fifty has a negative p, nine in ten an action a."""
    random = np.random.default_rng(seed)
    return {"negative": random.random(count) < 0.02, "a": random.random(count) < 0.9}


def cases(count: int, seed: int = 1, *, fresh: bool = True) -> Arrays:
    """A thousand cases at a time, each a(bc)+d; ids are texts.

    Args:
        count: how many events.
        seed: what they are drawn from.
        fresh: whether a case that ended gives place to a new one; else it begins again.
    """
    random = np.random.default_rng(seed)
    # Lists and not arrays: one element at a time they are twice as fast.
    open_cases, steps = list(range(OPEN)), [0] * OPEN
    left = random.integers(1, 4, OPEN).tolist()
    picks, loops = random.integers(0, OPEN, count).tolist(), random.integers(1, 4, count).tolist()
    case, activity = array("q", [0]) * count, array("b", [0]) * count
    following = OPEN
    for k, j in enumerate(picks):
        case[k] = open_cases[j]
        step = activity[k] = steps[j]
        if step == 2:
            left[j] -= 1
            steps[j] = 1 if left[j] else 3
        elif step == 3:
            steps[j], left[j] = 0, loops[k]
            if fresh:
                open_cases[j] = following
                following += 1
        else:
            steps[j] = step + 1
    ids, steps_taken = np.frombuffer(case, np.int64), np.frombuffer(activity, np.int8)
    names = pc.binary_join_element_wise("case-", pa.array(ids).cast(pa.string()), "")
    signs = pa.DictionaryArray.from_arrays(pa.array(steps_taken), pa.array(list("abcd")))
    return {"case": names, "activity": signs}


def fixed_cases(count: int, seed: int = 1) -> Arrays:
    """The same with a thousand ids and no more: a case that ended begins again."""
    return cases(count, seed, fresh=False)


QUERIES = {
    "window": Query(window, wider_window, numbers),
    "lifecycle": Query(lifecycle, longer_lifecycle, cases),
    "ltl": Query(ltl, other_ltl, conditions),
}


def prototype(query: str, arrays: Arrays, count: int) -> float:
    """Events per second of the prototype, tracked, compact."""
    sys.path.insert(0, str(PROTOTYPES))
    try:
        module = import_module("kern")
    finally:
        sys.path.remove(str(PROTOTYPES))
    if query == "lifecycle":
        return _prototype_of_cases(module, arrays, count)
    made = {"window": module.NbQ1, "ltl": module.NbQ3}[query]()
    columns = list(arrays.values())
    started = time.process_time()
    for start in range(0, count, THEIRS):
        made.step(*[column[start : min(start + THEIRS, count)] for column in columns], "compact")
    return count / (time.process_time() - started)


def _prototype_of_cases(module: Any, arrays: Arrays, count: int) -> float:
    """Text ids are numbered in the timed part, as they are in ours."""
    table = np.full((6, 4), 5, np.int64)
    for state, sign, to in ((0, 0, 1), (1, 1, 2), (2, 2, 3), (3, 1, 2), (3, 3, 4)):
        table[state, sign] = to
    made = module.NbQ2(table, np.array([1, 1, 1, 1, 1, 0], np.int64))
    slots = module.Slots()
    ids = np.array(arrays["case"][:count].to_pylist(), object)
    signs = arrays["activity"].indices.to_numpy().astype(np.int64)
    started = time.process_time()
    for start in range(0, len(ids), THEIRS):
        slot = slots(ids[start : start + THEIRS])
        made.step(slot, signs[start : start + len(slot)], len(slots.d), "compact")
    return len(ids) / (time.process_time() - started)
