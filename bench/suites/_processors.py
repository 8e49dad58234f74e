"""Every processor by itself at the top of a chain, and as the P of a Slice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from bench.suites._queries import BATCH, Arrays
from whence.engine import Chain
from whence.engine.language.definition import chain_from_tree

__all__ = ["LENGTH", "PROCESSORS", "alone", "log_for", "sliced", "sliced_log"]

Tree = dict[str, Any]

LENGTH = 4 * BATCH
"""Events of a log that is read again and again: a little more than 10^6."""

_MACHINE = {
    "initial": "s0",
    "states": {"s0": True, "s1": True, "s2": False},
    "transitions": [["s0", "n > 4", "s1"], ["s1", "n < 3", "s2"], ["s2", "n > 6", "s0"]],
    "otherwise": {"s0": "s0", "s1": "s1", "s2": "s2"},
}
_FORKED = {
    "graph": {
        "inputs": ["log"],
        "nodes": {
            "fork": {"from": ["log"], "is": {"fork": 2}},
            "one": {"from": ["fork.0", "fork.1"], "is": {"apply": "$0.n + $1.n"}},
        },
        "output": "one",
    }
}
_MULTIPLEXED = {
    "graph": {
        "inputs": ["log"],
        "nodes": {
            "numbers": {"from": ["log"], "is": {"apply": "n"}},
            "other": {"from": ["log"], "is": {"apply": "m"}},
            "both": {"from": ["numbers", "other"], "is": {"multiplex": {}}},
        },
        "output": "both",
    }
}

PROCESSORS: dict[str, tuple[str, Tree]] = {
    "apply_function": ("event", {"apply": "n * 2 + m > 9"}),
    "count_decimate": ("number", {"decimate": 3}),
    "cumulate": ("number", {"cumulate": "add"}),
    "filter": ("number", {"filter": {"where": "value > 2"}}),
    "fork": ("event", _FORKED),
    "freeze": ("number", {"freeze": {}}),
    "group": ("number", {"group": {"line": [{"trim": 1}, {"apply": "value + 1"}]}}),
    "insert": ("number", {"insert": {"n": 2, "value": 7}}),
    "multiplex": ("event", _MULTIPLEXED),
    "passthrough": ("number", {"passthrough": {}}),
    "slice": ("event", {"slice": {"by": "k", "of": {"apply": "n > 0"}, "combine": "and"}}),
    "stutter": ("number", {"stutter": 2}),
    "trim": ("number", {"trim": 3}),
    "turn_into": ("number", {"turn_into": 1}),
    "window": ("number", {"window": {"n": 4, "of": {"cumulate": "max"}}}),
    "moore_machine": ("event", {"moore": _MACHINE}),
    "globally": ("condition", {"ltl": "G"}),
    "eventually": ("condition", {"ltl": "F"}),
    "next": ("condition", {"ltl": "X"}),
    "until": ("event", {"formula": "b U c"}),
}
"""By file name: what a log for it holds, and the processor as in a chain file."""


def _chain(tree: Tree) -> Chain:
    return chain_from_tree(tree, make_ids=True)


def alone(name: str) -> Chain:
    """The processor at the top, with what it needs around it."""
    return _chain(PROCESSORS[name][1])


def sliced(name: str) -> Chain:
    """The processor in every slice of a log of events, or the Slice itself with that many."""
    holds, tree = PROCESSORS[name]
    if name == "slice":
        return _chain(tree)
    first = {"number": [{"apply": "n"}], "condition": [{"apply": "b"}]}.get(holds, [])
    inner = {"line": [*first, tree]} if first else tree
    return _chain({"slice": {"by": "k", "of": inner, "combine": "count"}})


def log_for(name: str) -> Arrays:
    """A log for the processor alone."""
    holds = PROCESSORS[name][0]
    log = sliced_log(10)
    if holds == "event":
        return log
    return {"value": log["n" if holds == "number" else "b"]}


def sliced_log(keys: int) -> Arrays:
    """Events of so many slices, in any order; keys are texts."""
    random = np.random.default_rng(keys)
    which = random.permutation(np.arange(LENGTH) % keys)
    return {
        "k": pa.array([f"key-{number}" for number in range(keys)]).take(pa.array(which)),
        "n": random.integers(0, 10, LENGTH),
        "m": random.integers(0, 10, LENGTH),
        "b": random.random(LENGTH) < 0.9,
        "c": random.random(LENGTH) < 0.3,
    }
