"""Write OCEL 2.0 in its three forms from one description, which is that of the JSON form."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

Log = dict[str, Any]

_TYPES = {"string": "TEXT", "integer": "INTEGER", "float": "REAL", "boolean": "BOOLEAN"}


def small_log() -> Log:
    """Two orders that share a package; an item that no event concerns."""
    return {
        "eventTypes": [
            {"name": "place order", "attributes": [{"name": "total", "type": "float"}]},
            {"name": "pack", "attributes": [{"name": "boxes", "type": "integer"}]},
            {"name": "never", "attributes": [{"name": "urgent", "type": "boolean"}]},
        ],
        "objectTypes": [
            {"name": "orders", "attributes": [{"name": "price", "type": "float"}]},
            {"name": "packages", "attributes": []},
            {"name": "items", "attributes": []},
        ],
        "objects": [
            {
                "id": "o1", "type": "orders",
                "attributes": [
                    {"name": "price", "time": "1970-01-01T00:00:00Z", "value": 10.5},
                    {"name": "price", "time": "2024-01-02T00:00:00Z", "value": 12.0},
                ],
                "relationships": [{"objectId": "i1", "qualifier": "has"}],
            },
            {"id": "o2", "type": "orders"},
            {"id": "p & 'q'", "type": "packages"},
            {"id": "i1", "type": "items"},
        ],
        "events": [
            {
                "id": "e1", "type": "place order", "time": "2024-01-01T10:00:00+01:00",
                "attributes": [{"name": "total", "value": 10.5}],
                "relationships": [{"objectId": "o1", "qualifier": "order"}],
            },
            {
                "id": "e2", "type": "place order", "time": "2024-01-01T09:30:00Z",
                "relationships": [{"objectId": "o2", "qualifier": "order"}],
            },
            {
                "id": "e3", "type": "pack", "time": "2024-01-01T12:00:00",
                "attributes": [{"name": "boxes", "value": 2}],
                "relationships": [
                    {"objectId": "o1", "qualifier": "packs"},
                    {"objectId": "p & 'q'", "qualifier": "into"},
                    {"objectId": "o2", "qualifier": "packs"},
                ],
            },
        ],
    }  # fmt: skip


def write_json(path: Path, log: Log) -> Path:
    path.write_text(json.dumps(log, indent=1), encoding="utf-8")
    return path


def write_xml(path: Path, log: Log) -> Path:
    def links(of: Log) -> str:
        found = "".join(
            f"<relationship object-id={quoteattr(r['objectId'])} "
            f"qualifier={quoteattr(r['qualifier'] or '')}/>\n"
            for r in of.get("relationships", [])
        )
        return f"<objects>{found}</objects>"

    def values(of: Log) -> str:
        found = ""
        for a in of.get("attributes", []):
            since = f" time={quoteattr(a['time'])}" if "time" in a else ""
            value = str(a["value"]).lower() if isinstance(a["value"], bool) else str(a["value"])
            found += f"<attribute name={quoteattr(a['name'])}{since}>{escape(value)}</attribute>"
        return f"<attributes>{found}</attributes>"

    def types(kind: str) -> str:
        found = ""
        for t in log[f"{kind}Types"]:
            own = "".join(
                f"<attribute name={quoteattr(a['name'])} type={quoteattr(a['type'])}/>"
                for a in t["attributes"]
            )
            found += (
                f"<{kind}-type name={quoteattr(t['name'])}><attributes>{own}</attributes>"
                f"</{kind}-type>"
            )
        return f"<{kind}-types>{found}</{kind}-types>\n"

    objects = "".join(
        f"<object id={quoteattr(o['id'])} type={quoteattr(o['type'])}>{values(o)}{links(o)}"
        "</object>\n"
        for o in log["objects"]
    )
    events = "".join(
        f"<event id={quoteattr(e['id'])} type={quoteattr(e['type'])} "
        f"time={quoteattr(e['time'])}>{values(e)}{links(e)}</event>\n"
        for e in log["events"]
    )
    path.write_text(
        f'<?xml version="1.0"?>\n<log>{types("object")}{types("event")}'
        f"<objects>{objects}</objects><events>{events}</events></log>",
        encoding="utf-8",
    )
    return path


def write_sqlite(path: Path, log: Log) -> Path:
    with closing(sqlite3.connect(path)) as db:
        db.executescript(
            "PRAGMA page_size = 512;"  # less empty space, so that damage hits something
            "CREATE TABLE event (ocel_id TEXT, ocel_type TEXT);"
            "CREATE TABLE object (ocel_id TEXT, ocel_type TEXT);"
            "CREATE TABLE event_object (ocel_event_id TEXT, ocel_object_id, ocel_qualifier TEXT);"
            "CREATE TABLE object_object (ocel_source_id, ocel_target_id, ocel_qualifier TEXT);"
            "CREATE TABLE event_map_type (ocel_type TEXT, ocel_type_map TEXT);"
            "CREATE TABLE object_map_type (ocel_type TEXT, ocel_type_map TEXT);"
        )
        for kind in ("event", "object"):
            for t in log[f"{kind}Types"]:
                mapped = t["name"].title().replace(" ", "") + '"'
                db.execute(f"INSERT INTO {kind}_map_type VALUES (?, ?)", (t["name"], mapped))
                own = "".join(f', "{a["name"]}" {_TYPES[a["type"]]}' for a in t["attributes"])
                db.execute(
                    f'CREATE TABLE "{kind}_{mapped}"" (ocel_id, ocel_time TEXT, '
                    f"ocel_changed_field TEXT{own})"
                )
            for each in log[f"{kind}s"]:
                db.execute(f"INSERT INTO {kind} VALUES (?, ?)", (each["id"], each["type"]))
                table = f'"{kind}_{each["type"].title().replace(" ", "")}"""'
                found: list[Any] = each.get("attributes", [])
                changes = found if kind == "object" else [None]
                for change in changes:
                    own_values = [change] if change else found
                    names = ["ocel_id", "ocel_time", *(f'"{a["name"]}"' for a in own_values)]
                    time = change["time"] if change else each["time"]
                    given = [each["id"], time, *(a["value"] for a in own_values)]
                    marks = ", ".join("?" for _ in given)
                    db.execute(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})", given)
                links = "event_object" if kind == "event" else "object_object"
                for link in each.get("relationships", []):
                    given = [each["id"], link["objectId"], link["qualifier"]]
                    db.execute(f"INSERT INTO {links} VALUES (?, ?, ?)", given)
        db.commit()
    return path


WRITERS: dict[str, Callable[[Path, Log], Path]] = {
    "sqlite": write_sqlite,
    "json": write_json,
    "xml": write_xml,
}
