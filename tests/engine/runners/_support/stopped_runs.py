"""Chains and a log for runs that are stopped on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from whence.engine import Chain, Cumulate, Filter, Slice, Window
from whence.engine.formula import formula
from whence.engine.functions import function
from whence.engine.palettes.fsm import MooreMachine
from whence.engine.record import RunRecord, ingest
from whence.engine.runners import RunOptions
from whence.engine.runners.local_kernels import run_kernels

__all__ = ["CHAINS", "OPTIONS", "events", "run"]

OPTIONS = RunOptions(closed=True, chunk=40)


def plus(left: int, right: int) -> int:
    """A user's own function; where it is folded, the machine's state is nobody's but its own."""
    return left + right


def _machine() -> MooreMachine:
    return MooreMachine(
        "order",
        states={"new": True, "open": True, "done": True, "wrong": False},
        initial="new",
        transitions=[
            ("new", "act = 'a'", "open"),
            ("open", "act = 'b'", "open"),
            ("open", "act = 'c'", "done"),
        ],
        otherwise={"new": "wrong", "open": "wrong", "done": "wrong", "wrong": "wrong"},
    )


CHAINS: dict[str, Callable[[], Any]] = {
    "lifecycle": lambda: Slice("per-case", by="case", of=_machine(), combine="and"),
    "rule": lambda: formula("G (x < 0 -> X (act = 'a' or act = 'b'))"),
    "own": lambda: Filter("big", where="value > 2") | Cumulate("total", function(plus)),
    "sums": lambda: (
        Window("five", n=5, of=Cumulate("sum", "add")) | Filter("odd", where="value < 9")
    ),
}


def events(name: str) -> Iterator[Any]:
    """A log of interleaved cases, some of which go wrong; or of numbers."""
    for n in range(400):
        number = n * 5 % 11 - 3
        record = {"case": f"case {n * 7 % 23}", "act": "abbcab"[n * n % 6], "x": number}
        yield record if name in ("lifecycle", "rule") else number


def run(root: Path, name: str) -> RunRecord:
    """Run one of the chains, with small batches, its state kept after each."""
    chain = Chain.of(CHAINS[name]())
    (log,) = chain.inputs
    logs = {log: ingest(root, log, events(name), chunk=50)}
    return run_kernels(root, chain, logs, OPTIONS, run_id="the-run", batch=32, seconds=0.0)
