"""A run to make packs about: case B pays before anybody approves."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tests.engine.examples import lifecycle
from tests.exporters._support.recorded_runs import recorded
from whence.engine import Chain, Slice, field
from whence.engine.errors import EvidenceError
from whence.engine.language.chain import Log
from whence.engine.record import RunRecord
from whence.exporters.evidence import KeyPair, Wanted, create_keys, create_pack, verify_pack
from whence.store import Connection
from whence.store.loading import load

__all__ = ["CASES", "NOON", "PRIVATE", "STATED", "Made", "failures", "made_in"]

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
STATED = {"controller": "Example Bank", "owner": "Payments"}
ROWS = ["A create", "B create", "A approve", "B pay", "A pay", "A approve"]
CASES = {"A": "subject-Q7Z-alpha", "B": "subject-X9K-beta"}
PRIVATE = [*(case.encode() for case in CASES.values()), b"-remark"]
"""Whom it is about, and what is said of them: not to be told by accident."""


@dataclass
class Made:
    """A run in a graph, keys, and a folder for packs."""

    graph: Connection
    record: RunRecord
    keys: KeyPair
    folder: Path

    def pack(
        self,
        name: str = "a.zip",
        *,
        now: datetime = NOON,
        timestamp: str | None = None,
        **wanted: object,
    ) -> Path:
        asked = Wanted(**{"run": "latest", "question": "3", "metadata": STATED, **wanted})  # type: ignore[arg-type]
        path = self.folder / name
        return create_pack(
            self.graph, self.record.root, asked, path, self.keys, now=now, timestamp=timestamp
        )


def made_in(folder: Path, graph: Connection) -> Made:
    """Run the chain, and load it into a graph that is empty then."""
    log = [
        {"case": CASES[row[0]], "action": row[2:], "note": f"private-{n}-remark"}
        for n, row in enumerate(ROWS)
    ]
    declared = Log(
        {"case": "text", "action": "text", "note": "text"}, case="case", activity="action"
    )
    chain = Chain.of(Slice("per-case", by=field.case, of=lifecycle(), combine="and"))
    record = recorded(
        folder / "record", chain, {"log": log}, declared, metadata={"purpose": "test"}
    )
    graph.write("MATCH (n) DETACH DELETE n")
    load(record.root, record.id, graph)
    return Made(graph, record, create_keys("test", folder / "keys"), folder)


def failures(path: Path, key: Path | None = None) -> list[str]:
    """What fails, or the one line of a refusal."""
    try:
        return [words for holds, words in verify_pack(path, key).findings if not holds]
    except EvidenceError as error:
        return [str(error)]
