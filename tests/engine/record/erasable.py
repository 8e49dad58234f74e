"""A record with private values in every place where values are, to be erased from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.engine.examples import lifecycle
from tests.exporters._support.recorded_runs import recorded
from whence.engine import ApplyFunction, Chain, Slice, field
from whence.engine.language.chain import Log
from whence.engine.record import RunRecord

ROWS = ["A create", "B create", "A approve", "B pay", "A pay", "A approve"]
CASES = {"A": "subject-Q7Z-alpha", "B": "subject-X9K-beta"}
SENTINELS = [b"subject-X9K-beta", b"private-1-remark", b"private-3-remark"]
PER_CASE = Chain.of(Slice("per-case", by=field.case, of=lifecycle(), combine="and"))
DECLARED = Log({"case": "text", "action": "text", "note": "text"}, case="case", activity="action")


def events() -> list[dict[str, str]]:
    return [
        {"case": CASES[row[0]], "action": row[2:], "note": f"private-{n}-remark"}
        for n, row in enumerate(ROWS)
    ]


def noted(root: Path, **options: Any) -> RunRecord:
    """A run that repeats what the events say, and one that only judges them."""
    chain = Chain.of(ApplyFunction("say", "note"))
    record = recorded(root, chain, {"log": events()}, DECLARED, **options)
    recorded(root, PER_CASE, {"log": events()}, DECLARED, kernels=True)
    return record


def values(run: RunRecord, stream: str) -> list[str]:
    told = run.manifest.by_name[stream]
    parts = [run.outputs(stream, part.part).to_pylist() for part in told.outputs]
    return [f"{row['kind']} {row['value']}" for part in parts for row in part]
