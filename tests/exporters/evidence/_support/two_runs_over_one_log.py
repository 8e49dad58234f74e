"""Two runs over one log of two cases, one of which is to be erased, and packs about them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.engine.examples import lifecycle
from tests.exporters._support.recorded_runs import recorded
from whence.engine import ApplyFunction, Chain, Slice, field
from whence.engine.language.chain import Log
from whence.engine.record import RunRecord
from whence.exporters.evidence import KeyPair, Wanted, create_keys, create_pack
from whence.exporters.evidence.verify import BAG, read_pack
from whence.store import Connection
from whence.store.loading import load
from whence.store.questions import explain, impact, never_matters

__all__ = ["CASES", "GONE", "STAY", "Kept", "kept", "trees_of"]

ROWS = ["A create", "B create", "A approve", "B pay", "A pay", "A approve"]
CASES = {"A": "subject-Q7Z-alpha", "B": "subject-X9K-beta"}
GONE = [b"subject-X9K-beta", b"private-1-remark", b"private-3-remark"]
STAY = [b"subject-Q7Z-alpha", b"private-0-remark"]
LONG = "é" * 3000


@dataclass
class Kept:
    """Two runs over one log, a pack of before, and where all of it is."""

    graph: Connection
    judged: RunRecord
    said: RunRecord
    keys: KeyPair
    folder: Path
    before: dict[str, Any]
    packs: dict[str, bytes]

    @property
    def root(self) -> Path:
        return self.judged.root

    def pack(self, name: str, run: str, **wanted: Any) -> Path:
        path = self.folder / name
        return create_pack(self.graph, self.root, Wanted(run, **wanted), path, self.keys)

    def answers(self) -> dict[str, Any]:
        """What the questions say, without the values."""
        found: dict[str, Any] = {}
        for run, name in ((self.judged, "per-case"), (self.said, "say")):
            for position in range(6):
                why = explain(self.graph, run.id, f"{name}@{position}", support=True)
                found[f"{name}@{position}"] = (why.inputs, why.support, why.output.moment)
            never = never_matters(self.graph, run.id)
            found[f"{name} never"] = [(s.log, s.ranges) for s in never.certain]
            hit = impact(self.graph, run.id, {"log": ((2, 3),)})
            found[f"{name} impact"] = (hit.explained, hit.possibly, hit.unaffected)
        return found


def kept(graph: Connection, folder: Path, packs: Sequence[str] = ()) -> Kept:
    """Make them, and these packs."""
    log = [
        {"case": CASES[row[0]], "action": row[2:], "note": f"private-{n}-remark {LONG}"}
        for n, row in enumerate(ROWS)
    ]
    kinds = {"case": "text", "action": "text", "note": "text"}
    declared = Log(kinds, case="case", activity="action")
    root = folder / "record"
    chain = Chain.of(Slice("per-case", by=field.case, of=lifecycle(), combine="and"))
    judged = recorded(root, chain, {"log": log}, declared)
    say = Chain.of(ApplyFunction("say", "note"))
    said = recorded(root, say, {"log": log}, declared, kernels=True)
    for run in (judged, said):
        load(root, run.id, graph)
    made = Kept(graph, judged, said, create_keys("test", folder / "keys"), folder, {}, {})
    known: dict[str, tuple[str, dict[str, str]]] = {
        "decision.zip": (judged.id, {"question": "3"}),
        "access.zip": (judged.id, {"question": f"case {CASES['B']}", "profile": "gdpr-access"}),
        "said.zip": (said.id, {"question": "say@0"}),
    }
    for name in packs:
        run_id, wanted = known[name]
        made.packs[name] = made.pack(name, run_id, **wanted).read_bytes()
    return made


def trees_of(pack: Path) -> dict[str, str]:
    """The roots of the trees that a pack names."""
    told = json.loads(read_pack(pack)[0][f"{BAG}data/evidence.json"])
    return {tree["place"]: tree["root"] for tree in told["merkle"]["trees"]}
