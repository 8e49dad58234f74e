"""The report of a figure: two dates, adjustments by hand, owners, completeness, timeliness."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import prov.model
import pytest

from tests.engine.examples import lifecycle
from tests.exporters._support.recorded_runs import recorded
from whence.engine import Chain, Slice, field
from whence.engine.errors import ParameterError
from whence.engine.language.chain import Log
from whence.engine.record import RunRecord
from whence.engine.what_if import what_if
from whence.exporters.evidence import KeyPair, Wanted, create_keys, create_pack, verify_pack
from whence.exporters.evidence.verify import BAG, read_pack
from whence.store import Connection, connect
from whence.store.loading import load
from whence.store.questions import compare
from whence.store.server import Status

pytestmark = pytest.mark.neo4j

ROWS = ["A create", "B create", "A approve", "B pay", "A pay", "A approve"]
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
OWNERS = {"owner": "Payments", "owner.per-case": "Risk", "owner.log": "Ledger"}


@dataclass
class Dates:
    """A run, and one over a log that somebody corrected."""

    graph: Connection
    first: RunRecord
    second: RunRecord
    keys: KeyPair
    folder: Path

    def told(self, name: str = "a.zip", **wanted: Any) -> tuple[dict[str, Any], dict[str, bytes]]:
        asked = Wanted(
            **{
                "run": self.second.id,
                "question": "per-case@3",
                "profile": "bcbs239",
                "metadata": OWNERS,
                **wanted,
            }
        )
        path = create_pack(self.graph, self.first.root, asked, self.folder / name, self.keys)
        assert [words for holds, words in verify_pack(path).findings if not holds] == []
        files = read_pack(path)[0]
        return json.loads(files[f"{BAG}data/evidence.json"]), files


@pytest.fixture(scope="module")
def dates(neo4j_server: Status, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dates]:
    folder = tmp_path_factory.mktemp("dates")
    log = [
        {"case": row[0], "action": row[2:], "at": NOON + timedelta(hours=n)}
        for n, row in enumerate(ROWS)
    ]
    kinds = {"case": "text", "action": "text", "at": "instant"}
    declared = Log(kinds, case="case", activity="action", time="at")
    chain = Chain.of(Slice("per-case", by=field.case, of=lifecycle(), combine="and"))
    first = recorded(folder / "record", chain, {"log": log}, declared)
    answer = what_if(
        first, ["log@3.action=approve"], keep=True, by="Jo Example", reason="typing error"
    )
    assert answer.kept is not None
    second = RunRecord(first.root, answer.kept)
    with connect(neo4j_server.settings()) as graph:
        graph.write("MATCH (n) DETACH DELETE n")
        for run in (first, second):
            load(run.root, run.id, graph)
        yield Dates(graph, first, second, create_keys("test", folder / "keys"), folder)


def test_the_difference_from_an_earlier_date_is_explained(dates: Dates) -> None:
    told, files = dates.told(against=dates.first.id)
    found = told["difference"]
    assert found["against"] == dates.first.id
    (figure,) = found["figure"]
    assert figure == {
        "output": "per-case@3",
        "how": "changed",
        "before": "false",
        "now": "true",
        "because of, before": "log@3",
        "because of, now": "log@3",
    }
    assert "was false and is true; the difference is explained by log@3" in found["words"]
    (log,) = found["logs"]
    assert (log["changed"], log["added"], log["removed"]) == (1, 0, 0)
    (pipe,) = found["outputs"]
    asked = compare(dates.graph, dates.first.id, dates.second.id, record=dates.first.root)
    assert (pipe["alike"], pipe["changed"]) == (asked.pipes[0].same, asked.pipes[0].changed)
    assert f"Difference from run {dates.first.id}" in files[f"{BAG}data/report.html"].decode()
    assert b"per-case@3,changed,false,true" in files[f"{BAG}data/difference.csv"]
    same, _ = dates.told("same.zip", question="per-case@0", against=dates.first.id)
    assert same["difference"]["words"].endswith("per-case@0 is as it was.")
    with pytest.raises(ParameterError, match="expected an earlier run"):
        dates.told("no.zip", against=dates.second.id)


def test_an_adjustment_by_hand_is_an_activity_of_a_person(dates: Dates, tmp_path: Path) -> None:
    told, files = dates.told()
    (row,) = told["adjustments"]
    assert (row["log"], row["who"], row["values"], row["reason"]) == (
        *("log", "Jo Example"),
        *(1, "typing error"),
    )
    assert row["corrects"] == dates.first.log("log").id
    assert b"Jo Example" in files[f"{BAG}data/adjustments.csv"]
    path = tmp_path / "prov.json"
    path.write_bytes(files[f"{BAG}data/prov.json"])
    document = prov.model.ProvDocument.deserialize(str(path))
    records = [each for bundle in document.bundles for each in bundle.get_records()]
    (activity,) = (
        each
        for each in records
        if isinstance(each, prov.model.ProvActivity)
        and "whence:Adjustment" in [str(type) for type in each.get_asserted_types()]
    )
    ends = {
        type(each).__name__: [str(end) for end in each.args if end is not None]
        for each in records
        if each.is_relation() and activity.identifier in each.args
    }
    assert ends["ProvAssociation"][1].startswith("Jo_Example:")
    assert ends["ProvGeneration"][0] == "log:all"
    assert ends["ProvUsage"][1] == "log-before:all"
    first, _ = dates.told("first.zip", run=dates.first.id)
    assert first["adjustments"] == []


def test_the_dictionary_has_owners_and_the_run_its_times(dates: Dates) -> None:
    told, _ = dates.told()
    owners = {(row["name"], row["kind"]): row["owner"] for row in told["dictionary"]}
    assert owners["log", "log"] == "Ledger"
    assert owners["per-case", "slice"] == "Risk"
    assert owners["per-case", "stream (output)"] == "Risk"
    assert owners["per-case/order", "stream (inner)"] == "Payments"
    times = told["timeliness"]
    last = NOON + timedelta(hours=5)
    ended = datetime.fromisoformat(str(dates.second.manifest.ended))
    assert times["last event"] == last.isoformat()
    assert times["from the last event to the end of the run"] == str(ended - last)
    (row,) = told["completeness"]
    (counts,) = told["reconciliation"]
    assert row["used"] == f"{counts['count'] - counts['never_matters']} of {counts['count']}"
    assert "no output of the chain leans on them" in row["reason"]
