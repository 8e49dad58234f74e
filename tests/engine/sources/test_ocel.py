from __future__ import annotations

import gzip
import json
import pickle
import sqlite3
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.engine.sources._support.ocel_files import (
    WRITERS,
    Log,
    small_log,
    write_json,
    write_sqlite,
)
from whence.engine import ApplyFunction, Slice
from whence.engine.errors import LogError
from whence.engine.sources import Limits, events_of, open_source
from whence.engine.testing import run

LOGS = Path(__file__).resolve().parents[4] / "shared" / "logs"
REAL = LOGS / "ocel2-running-example.sqlite"
needs_logs = pytest.mark.skipif(
    not LOGS.is_dir(), reason="the real logs (../shared/logs) are not here"
)
form = pytest.mark.parametrize("form", ["sqlite", "json", "xml"])


def written(folder: Path, form: str, log: Log | None = None) -> Path:
    return WRITERS[form](folder / f"log.{form}", small_log() if log is None else log)


def rows(path: Path, **how: Any) -> list[dict[str, Any]]:
    return list(events_of(open_source(path, **how)))


@form
@pytest.mark.parametrize("packed", [False, True])
def test_all_three_forms_read_alike(tmp_path: Path, form: str, packed: bool) -> None:
    file = written(tmp_path, form)
    if packed:
        file = file.rename(f"{file}.plain")
        target = tmp_path / f"log.{form}.gz"
        target.write_bytes(gzip.compress(file.read_bytes()))
        file = target
    source: Any = open_source(file, object_type="orders")
    assert source.format == "ocel"
    first, second, third = events_of(source)
    assert first == {
        "ocel:eid": "e1",
        "ocel:activity": "place order",
        "ocel:timestamp": datetime(2024, 1, 1, 9, 0, tzinfo=UTC),
        "total": 10.5,
        "boxes": None,
        "urgent": None,
        "ocel:oid": ["o1"],
        "ocel:type": ["orders"],
        "ocel:qualifier": ["order"],
        "ocel:type:orders": ["o1"],
        "ocel:type:packages": [],
        "ocel:type:items": [],
    }
    assert (second["ocel:eid"], second["total"]) == ("e2", None)
    assert third["ocel:timestamp"] == datetime(2024, 1, 1, 12, 0, tzinfo=UTC)
    assert third["ocel:oid"] == ["o1", "p & 'q'", "o2"]
    assert third["ocel:qualifier"] == ["packs", "into", "packs"]
    assert (third["ocel:type:orders"], third["boxes"]) == (["o1", "o2"], 2)
    assert dict(source.columns) == {
        "ocel:eid": "text", "ocel:activity": "text", "ocel:timestamp": "instant",
        "total": "float", "boxes": "integer", "urgent": "boolean",
        "ocel:oid": "any", "ocel:type": "any", "ocel:qualifier": "any",
        "ocel:type:orders": "any", "ocel:type:packages": "any", "ocel:type:items": "any",
    }  # fmt: skip
    assert source.roles == {
        "case": "ocel:type:orders", "activity": "ocel:activity",
        "time": "ocel:timestamp", "id": "ocel:eid",
    }  # fmt: skip


@form
def test_every_object_is_kept_with_its_values_and_relations(tmp_path: Path, form: str) -> None:
    source: Any = open_source(written(tmp_path, form))
    (objects,) = source.objects()
    assert objects.to_pydict() == {
        "ocel:oid": ["o1", "o2", "p & 'q'", "i1"],
        "ocel:type": ["orders", "orders", "packages", "items"],
    }
    (changes,) = source.object_changes()
    assert changes.column("value").to_pylist() == ["10.5", "12.0"]
    (links,) = source.object_links()
    assert [column.to_pylist() for column in links.columns] == [["o1"], ["i1"], ["has"]]
    assert source.details == {
        "events": {"pack": 1, "place order": 2},
        "objects": {"items": 1, "orders": 2, "packages": 1},
        "event_object": 5,
        "object_object": 1,
        "object_changes": 2,
    }


@form
def test_an_event_with_several_objects_goes_into_several_slices(tmp_path: Path, form: str) -> None:
    log = small_log()
    log["events"].append({"id": "e4", "type": "pack", "time": "2024-01-02T00:00:00Z"})
    events = rows(written(tmp_path, form, log), object_type="orders")
    packed = ApplyFunction("packed", "`ocel:activity` = 'pack'")
    made = run(Slice("all-packed", by="`ocel:type:orders`", of=packed, combine="and"), events)
    assert made == [(False, {0}), (False, {0}), (True, {2}), (True, {2})]


@form
def test_a_source_travels_to_other_processes(tmp_path: Path, form: str) -> None:
    source = open_source(written(tmp_path, form))
    again = pickle.loads(pickle.dumps(source))
    assert list(events_of(again)) == list(events_of(source))


@needs_logs
def test_the_real_log_has_the_events_objects_and_links_that_are_known_of_it() -> None:
    source: Any = open_source(REAL, object_type="items")
    events: list[Any] = list(events_of(source))
    assert len(events) == 18_211
    assert sum(len(event["ocel:oid"]) for event in events) == 35_857
    by_type = Counter(
        {t: sum(len(e[f"ocel:type:{t}"]) for e in events) for t in source.details["objects"]}
    )
    assert by_type == Counter(type for event in events for type in event["ocel:type"])
    assert sum(batch.num_rows for batch in source.objects()) == 10_031
    assert sum(source.details["objects"].values()) == 10_031
    assert source.details["event_object"] == 35_857
    assert events[0]["ocel:timestamp"] == datetime(2023, 4, 3, 12, 8, 18, tzinfo=UTC)
    assert not list(LOGS.glob("ocel2*-*al"))


@needs_logs
def test_the_real_log_reads_alike_in_all_forms(tmp_path: Path) -> None:
    log = _as_json(REAL)
    log["events"] = log["events"][:2_000]
    expected = rows(REAL)[:2_000]
    for form in WRITERS:
        assert rows(written(tmp_path, form, log)) == expected


def _as_json(path: Path) -> Log:
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as db:
        log: Log = {"eventTypes": [], "objectTypes": []}
        for kind in ("event", "object"):
            times: dict[str, str] = {}
            for name, mapped in db.execute(f"SELECT * FROM {kind}_map_type"):
                log[f"{kind}Types"].append({"name": name, "attributes": []})
                times.update(db.execute(f'SELECT ocel_id, ocel_time FROM "{kind}_{mapped}"'))
            log[f"{kind}s"] = [
                {"id": id, "type": type, "relationships": [], "time": times.get(id)}
                for id, type in db.execute(f"SELECT ocel_id, ocel_type FROM {kind}")
            ]
        by_id = {event["id"]: event["relationships"] for event in log["events"]}
        for event, object, qualifier in db.execute("SELECT * FROM event_object"):
            by_id[event].append({"objectId": object, "qualifier": qualifier})
    return log


@form
@pytest.mark.parametrize(
    ("change", "column", "problem"),
    [
        ({"time": "yesterday"}, "ocel:timestamp", "expected an ISO 8601 instant; got 'yesterday'"),
        ({"relationships": [{"objectId": "o9", "qualifier": "x"}]}, "ocel:oid", "got 'o9'"),
        ({"attributes": [{"name": "total", "value": "much"}]}, "total", "expected a float"),
    ],
)
def test_what_does_not_fit_is_named_dropped_or_missing(
    tmp_path: Path, form: str, change: Log, column: str, problem: str
) -> None:
    log = small_log()
    log["events"][1].update(change)
    file = written(tmp_path, form, log)
    with pytest.raises(LogError) as caught:
        rows(file)
    assert f"row 2 {'' if form == 'sqlite' else '(line '}"[:7].strip() in str(caught.value)
    assert f", column {column!r}: expected " in str(caught.value)
    assert problem in str(caught.value)
    dropped = open_source(file, on_bad="drop")
    assert [row["ocel:eid"] for row in events_of(dropped)] == ["e1", "e3"]
    assert (dropped.report.read, dropped.report.dropped) == (3, 1)
    kept = open_source(file, on_bad="keep")
    assert [row[column] for row in events_of(kept)][1] in (None, [])
    assert kept.report.missing == 1


def test_an_attribute_of_several_kinds_keeps_each_value(tmp_path: Path) -> None:
    log = small_log()
    log["eventTypes"][1]["attributes"].append({"name": "total", "type": "string"})
    log["events"][2]["attributes"].append({"name": "total", "value": "10.5"})
    log["events"][0]["attributes"].append({"name": "undeclared", "value": [1, {"a": None}]})
    source = open_source(written(tmp_path, "json", log))
    assert (source.columns["total"], source.columns["undeclared"]) == ("any", "any")
    first, _, third = events_of(source)
    assert (first["total"], third["total"]) == (10.5, "10.5")
    assert first["undeclared"] == [1, {"a": None}]


def test_a_stated_kind_reads_the_text_as_it_stands(tmp_path: Path) -> None:
    log = small_log()
    log["events"][0]["attributes"].append({"name": "paid", "value": "1/2/2024"})
    file = written(tmp_path, "json", log)
    first, *_ = rows(file, columns={"paid": "instant(%m/%d/%Y)", "ocel:timestamp": "instant"})
    assert first["paid"] == datetime(2024, 1, 2, tzinfo=UTC)
    with pytest.raises(LogError, match=r"expected a column 'payed'; got no such column"):
        open_source(file, columns={"payed": "text"})
    with pytest.raises(LogError, match=r"expected 'ocel:timestamp' to stay instant; got 'text'"):
        open_source(file, columns={"ocel:timestamp": "text"})


@form
def test_an_unknown_type_of_object_is_refused_with_those_that_there_are(
    tmp_path: Path, form: str
) -> None:
    with pytest.raises(LogError, match=r"got 'order'; try 'orders' \(did you mean"):
        open_source(written(tmp_path, form), object_type="order")


@form
@pytest.mark.parametrize("what", ["events", "objects"])
def test_ids_that_are_there_twice_are_refused(tmp_path: Path, form: str, what: str) -> None:
    log = small_log()
    log[what].append(log[what][0])
    with pytest.raises(LogError, match=r"twice|each event once"):
        open_source(written(tmp_path, form, log), on_bad="keep")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("log.jsonocel", json.dumps({"ocel:global-log": {}, "ocel:events": {}})),
        ("log.xmlocel", "<log><global scope='log'/><events/></log>"),
        ("log.xmlocel", "<log><events><event><string key='id' value='1'/></event></events></log>"),
    ],
)
def test_ocel_1_is_told_from_ocel_2(tmp_path: Path, name: str, content: str) -> None:
    file = tmp_path / name
    file.write_text(content)
    with pytest.raises(LogError, match=r"expected OCEL 2.0; got OCEL 1.0|expected <event id"):
        open_source(file)


def test_ocel_1_in_sqlite_is_told_from_ocel_2(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "log.sqlite")) as db:
        db.executescript(
            "".join(f"CREATE TABLE {t} (a);" for t in ("EVENTS", "OBJECTS", "RELATIONS"))
        )
    with pytest.raises(LogError, match=r"expected OCEL 2.0; got OCEL 1.0"):
        open_source(tmp_path / "log.sqlite")


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ("DROP TABLE event_object", "expected the table event_object of OCEL 2.0; got no such"),
        ("DROP TABLE event; CREATE TABLE event (ocel_id)", "got no column ocel_type"),
        ("DROP TABLE event; CREATE VIEW event AS SELECT 1 AS ocel_id, 2 AS ocel_type",
         "expected the table event of OCEL 2.0; got no such table"),
        ("DELETE FROM event_map_type WHERE ocel_type = 'pack'", "got 'pack', which is not there"),
        ("DELETE FROM event WHERE ocel_id = 'e1'", "expected rows of known events; got 1 others"),
        ("UPDATE event_object SET ocel_qualifier = CAST(x'ff' AS TEXT)", "expected texts in UTF-8"),
        ("UPDATE event SET ocel_type = CAST(x'ff' AS TEXT)", "expected texts in UTF-8"),
        ("UPDATE \"event_Pack\"\"\" SET boxes = CAST(x'ff' AS TEXT)", "expected texts in UTF-8"),
        ("UPDATE event SET ocel_id = NULL", "expected rows of known events"),
        ("UPDATE object SET ocel_id = NULL", "expected objects with ids that differ; got one"),
        ("INSERT INTO event_map_type VALUES ('x', 'y')", "the table 'event_y' of the event type"),
    ],
)  # fmt: skip
def test_a_database_that_contradicts_itself_is_refused(
    tmp_path: Path, sql: str, problem: str
) -> None:
    file = written(tmp_path, "sqlite")
    with closing(sqlite3.connect(file)) as db:
        db.executescript(sql)
    with pytest.raises(LogError) as caught:
        rows(file, on_bad="keep")
    assert problem in str(caught.value)
    assert "; try " in str(caught.value)


def test_a_link_to_nothing_does_not_fit(tmp_path: Path) -> None:
    file = written(tmp_path, "sqlite")
    with closing(sqlite3.connect(file)) as db:
        db.execute("UPDATE event_object SET ocel_object_id = NULL WHERE ocel_event_id = 'e1'")
        db.commit()
    with pytest.raises(LogError, match=r"row 1, column 'ocel:oid': expected .* got None"):
        rows(file)
    assert rows(file, on_bad="keep")[0]["ocel:oid"] == []


def test_a_database_is_never_written_to(tmp_path: Path) -> None:
    file = written(tmp_path, "sqlite")
    with closing(sqlite3.connect(file)) as db:
        db.execute("PRAGMA journal_mode=WAL")
    before = file.read_bytes()
    odd = file.rename(tmp_path / "a?b#c%20 é.sqlite")
    odd.chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        assert len(rows(odd)) == 3
    finally:
        tmp_path.chmod(0o755)
    assert [f.name for f in tmp_path.iterdir()] == [odd.name]
    assert odd.read_bytes() == before


def test_a_table_with_integer_ids_still_meets_texts(tmp_path: Path) -> None:
    log = small_log()
    for number, event in enumerate(log["events"]):
        event["id"] = str(number + 1)
    file = write_sqlite(tmp_path / "log.sqlite", log)
    with closing(sqlite3.connect(file)) as db:
        db.execute('UPDATE "event_Pack""" SET ocel_id = CAST(ocel_id AS INTEGER)')
        db.commit()
    assert rows(file) == rows(write_json(tmp_path / "log.json", log))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('{"events": [', "line 1: expected JSON; got Expecting value"),
        ('{"events": []\n,,}', "line 2: expected JSON; got"),
        ('{"events": [1], "objects": []}', "expected an object {...}; got 1"),
        ('{"events": {}, "objects": []}', "expected '['; got '{'"),
        ('{"events": [{"id": "e"}], "objects": []}', "expected a text 'type'; got None"),
        ('{"events": [], "events": []}', "expected each part once; got 'events' twice"),
        ('{"eventTypes": [{"name": "a", "name": "b"}]}', "the name 'name' twice in one object"),
        ('{"events": []}', "expected the member 'objects' of OCEL 2.0; got none"),
        ('{"eventTypes": [], "events": [], "objects": []} x', "expected the end of the file"),
        ('{"x": NaN}', "got NaN, which is no JSON"),
        ('{"x": ' + "[" * 100_000 + "}", r"(the limit 'nesting')"),
        ('[1]', "expected '{'; got '['"),
        ("", "expected '{'; got the end of the file"),
    ],
)  # fmt: skip
def test_json_that_is_no_ocel_is_refused(tmp_path: Path, content: str, problem: str) -> None:
    file = tmp_path / "log.jsonocel"
    file.write_text(content)
    with pytest.raises(LogError) as caught:
        open_source(file, on_bad="keep")
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("form", "limit"),
    [
        *((form, limit) for form in WRITERS for limit in ("events=2", "text=5", "columns=9")),
        ("json", "attributes=2"),
        ("xml", "attributes=2"),
    ],
)
def test_limits_hold_in_every_form(tmp_path: Path, form: str, limit: str) -> None:
    log = small_log()
    name, most = limit.split("=")
    with pytest.raises(LogError, match=rf"at most {int(most):,} .*\(the limit '{name}'\)"):
        rows(written(tmp_path, form, log), limits=Limits.stated([limit]))
