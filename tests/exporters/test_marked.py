"""A log again, with marks on events that explain an output, read by the project's own readers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Cli
from tests.exporters._support.recorded_runs import lifecycle_run, recorded
from tests.exporters.test_page import place
from whence.engine import ApplyFunction, Chain
from whence.engine.errors import ParameterError
from whence.engine.language.chain import Log
from whence.engine.record import LogRecord, RunRecord, ingest
from whence.engine.sources import open_source
from whence.exporters.marked import Marks, save_marked

__all__ = ["place"]

MARKS: Marks = {3: {"explains": True, "fields": "action"}, 7: {"supports": True}}


def read_back(path: Path, root: Path) -> list[dict[str, object]]:
    log = ingest(root, "log", open_source(path), order=["whence:position"])
    return [event for event in log.read() if isinstance(event, dict)]


def timed(tmp_path: Path) -> LogRecord:
    """A log with everything that a value may be, and with a time."""
    declared = Log(
        {"case": "text", "action": "text", "at": "instant", "x": "float", "n": "integer"},
        case="case",
        activity="action",
        time="at",
    )
    from datetime import UTC, datetime

    events = [
        {
            "case": f"c{n % 3}",
            "action": ("pay", 'a "b" <c> & d\n', "é \x01")[n % 3],
            "at": datetime(2026, 3, 1, n, tzinfo=UTC),
            "x": n / 3,
            "n": None if n == 5 else n,
        }
        for n in range(10)
    ]
    record = recorded(
        tmp_path / "record", Chain.of(ApplyFunction("a", "n")), {"log": events}, declared
    )
    return record.log("log")


@pytest.mark.parametrize("file", ["a.xes", "a.xes.gz", "a.jsonocel"])
def test_all_events_come_back_and_some_are_marked(file: str, tmp_path: Path) -> None:
    log = timed(tmp_path)
    path = save_marked(log, MARKS, tmp_path / file)
    if file.endswith(".jsonocel"):
        path = path.rename(tmp_path / "a.json")
    found = read_back(path, tmp_path / "again")
    ours = [event for event in log.read() if isinstance(event, dict)]
    assert [event["whence:position"] for event in found] == list(range(10))
    assert {e["whence:position"]: e["whence:fields"] for e in found if e["whence:explains"]} == {
        3: "action"
    }
    assert [e["whence:position"] for e in found if e["whence:supports"]] == [7]
    for told, own in zip(found, ours, strict=True):
        assert told["x"] == own["x"]
        assert told["n"] == own["n"]
        name = told.get("concept:name", told.get("ocel:activity"))
        assert isinstance(name, str)
        assert name.replace("\\u0001", "\x01") == own["action"]
        assert told.get("time:timestamp", told.get("ocel:timestamp")) == own["at"]
        assert told.get("case:concept:name", told.get("ocel:type:case")) in (
            own["case"],
            [own["case"]],
        )


def test_what_cannot_be_marked_is_one_line_and_leaves_nothing(tmp_path: Path) -> None:
    record = lifecycle_run(tmp_path / "record")
    log = record.log("log")
    with pytest.raises(ParameterError, match="whose column of times is mapped, as OCEL asks"):
        save_marked(log, {}, tmp_path / "a.jsonocel")
    with pytest.raises(ParameterError, match=r"expected a name that ends in .xes or .jsonocel"):
        save_marked(log, {}, tmp_path / "a.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["record"]


@pytest.mark.neo4j
def test_an_explanation_marks_its_events(place: RunRecord, cli: Cli, tmp_path: Path) -> None:
    done = cli("explain", place.id, "100", "--marked", "why.xes", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    expected = {p for each in told["inputs"] for p in range(each["lo"], each["hi"] + 1)}
    found = read_back(tmp_path / "why.xes", tmp_path / "again")
    assert len(found) == 130
    assert {event["whence:position"] for event in found if event["whence:explains"]} == expected
    wrong = cli("explain", place.id, "100", "--marked", "other=why.xes")
    assert (wrong.returncode, "expected a log of the run; got 'other'" in wrong.stderr) == (1, True)
