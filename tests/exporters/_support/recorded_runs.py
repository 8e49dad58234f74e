"""Runs to export: real ones, left in a real record."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from tests.engine.examples import lifecycle
from whence.engine import Chain, Cumulate, Filter, Slice, Window, field
from whence.engine.formula import formula
from whence.engine.language.chain import Log
from whence.engine.processors import ApplyFunction, Fork
from whence.engine.record import RunRecord, ingest
from whence.engine.runners.local import run_recorded
from whence.engine.runners.local_kernels import run_kernels
from whence.engine.runners.options import RunOptions

__all__ = ["RUNS", "payments", "recorded"]

ACTIONS = ("create", "approve", "pay")


def recorded(
    root: Path,
    chain: Chain,
    logs: Mapping[str, Sequence[Any]],
    declared: Log | None = None,
    kernels: bool = False,
    **options: Any,
) -> RunRecord:
    """Run a chain and leave its record, one row an association or, by kernels, compact."""
    kept = {
        name: ingest(
            root,
            name,
            events,
            declared=declared,
            source=f"{name}.csv",
            chunk=min(5000, 10 + len(events) // 3),  # several parts, also of a short log
        )
        for name, events in logs.items()
    }
    if kernels:
        return run_kernels(root, chain, kept, RunOptions(**options))
    return run_recorded(root, chain, kept, RunOptions(**options))


def payments(cases: int, events: int) -> list[dict[str, Any]]:
    """A payment log: each case goes its way, a few go wrong."""
    random = Random(7)
    steps = dict.fromkeys(range(cases), 0)
    log = []
    for _ in range(events):
        case = random.randrange(cases)
        action = ACTIONS[steps[case] % 3] if random.random() < 0.999 else "pay"
        steps[case] += 1
        log.append({"case": f"c{case}", "action": action, "amount": random.randrange(100)})
    return log


def lifecycle_run(root: Path, **options: Any) -> RunRecord:
    """A conjunction over many slices: its true outputs rest on the heads of all of them."""
    chain = Chain.of(Slice("per-case", by=field.case, of=lifecycle(), combine="and"))
    declared = Log(
        {"case": "text", "action": "text", "amount": "integer"}, case="case", activity="action"
    )
    return recorded(root, chain, {"log": payments(24, 130)}, declared, **options)


def wide_window_run(root: Path, **options: Any) -> RunRecord:
    """Sums over wide windows: bands."""
    chain = Chain.of(Window("wide", n=40, of=Cumulate("sum", "add")))
    return recorded(root, chain, {"log": list(range(200))}, **options)


def product_run(root: Path, **options: Any) -> RunRecord:
    """Products over small windows, some of them zero: lists."""
    chain = Chain.of(Window("three", n=3, of=Cumulate("product", "product")))
    return recorded(root, chain, {"log": [n % 5 for n in range(120)]}, **options)


def rule_run(root: Path, **options: Any) -> RunRecord:
    """A temporal rule: outputs that rest on later inputs."""
    chain = Chain.of(formula("G (amount < 95 -> X (action != 'pay' or amount > 5))", "rule"))
    return recorded(root, chain, {"log": payments(5, 90)}, **options)


def filter_run(root: Path, **options: Any) -> RunRecord:
    """A filter: what came through rests on all conditions before, a band of support."""
    chain = Chain.graph(
        ["log"],
        [
            (Fork("two", 2), ["log"]),
            (ApplyFunction("odd", field.amount > 50), ["two.1"]),
            (Filter("large"), ["two.0", "odd"]),
        ],
    )
    return recorded(root, chain, {"log": payments(5, 90)}, **options)


def totals_run(root: Path, **options: Any) -> RunRecord:
    """Sums by case behind a filter: what came so far is kept in a stream of its own."""
    chain = Chain.graph(
        ["log"],
        [
            (Fork("two", 2), ["log"]),
            (ApplyFunction("odd", field.amount > 50), ["two.1"]),
            (Filter("large"), ["two.0", "odd"]),
            (
                Slice(
                    "totals",
                    by=field.case,
                    of=ApplyFunction("amount", "amount") | Cumulate("sum", "add"),
                    combine="add",
                ),
                ["large"],
            ),
        ],
    )
    return recorded(root, chain, {"log": payments(5, 90)}, **options)


RUNS: dict[str, Callable[..., RunRecord]] = {
    "lifecycle": lifecycle_run,
    "wide window": wide_window_run,
    "product": product_run,
    "rule": rule_run,
    "filter": filter_run,
    "totals": totals_run,
}
