"""A log again, with a mark on the events that an answer names: XES and OCEL 2.0 for other tools.

XES has traces: events of one case, which the log's mapping says. OCEL has objects: those of an OCEL
log, else one object of type ``case`` for every case. The marks are attributes of events:

==========================  ======================================================================
``whence:position``         the event's position in the log
``whence:explains``         true: it is part of the reason for the output
``whence:fields``           which of its fields are, if not all
``whence:supports``         true: it is among the events that are enough for the output
==========================  ======================================================================
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from whence.engine.errors import ParameterError
from whence.engine.record import LogRecord
from whence.engine.values import Value
from whence.engine.values.columns import canonical
from whence.exporters.prov.saving import write_pieces
from whence.exporters.prov.statements import clean, double_text, time_text
from whence.exporters.prov.writing.prov_xml import xml_text
from whence.store.questions import InputRange, Why

__all__ = ["ENDINGS", "Marks", "marks_of", "save_marked"]

ENDINGS = (".xes", ".jsonocel")
"""How the names of marked logs end; ``.gz`` may follow."""

Marks = Mapping[int, Mapping[str, bool | str]]
"""The statements about the events at some positions."""

_CASE = "case:"


def marks_of(why: Why, log: str) -> Marks:
    """The marks that an explanation puts on the events of a log."""
    found: dict[int, dict[str, bool | str]] = {}
    for each in why.inputs:
        if each.log == log:
            for position in range(each.lo, each.hi + 1):
                said = found.setdefault(position, {})
                said["explains"] = True
                if each.fields:
                    known = str(said.get("fields", "")).split(", ")
                    said["fields"] = ", ".join(sorted({*filter(None, known), *each.fields}))
    for position in _positions(why.support or (), log):
        found.setdefault(position, {})["supports"] = True
    return found


def _positions(ranges: Iterable[InputRange], log: str) -> Iterator[int]:
    for each in ranges:
        if each.log == log:
            yield from range(each.lo, each.hi + 1)


def save_marked(log: LogRecord, marks: Marks, path: Path) -> Path:
    """Write a log of the record with marks, as the name of the file says: XES or OCEL JSON.

    Args:
        log: the log.
        marks: by position.
        path: the file; it is there whole or not at all.
    """
    name = path.name.removesuffix(".gz")
    if name.endswith(".xes"):
        return write_pieces(path, _xes(log, marks))
    if name.endswith(".jsonocel"):
        return write_pieces(path, _ocel(log, marks))
    msg = f"{path.name}: expected a name that ends in {' or '.join(ENDINGS)} (and .gz); try why.xes"
    raise ParameterError(msg.replace("; try", f"; got {''.join(path.suffixes)!r}; try"))


def _events(log: LogRecord) -> Iterator[tuple[int, dict[str, Value]]]:
    for position, event in enumerate(log.read()):
        yield position, event if isinstance(event, dict) else {"value": event}


def _mapped(log: LogRecord, word: str) -> str | None:
    column = log.manifest.column_of(word)
    return column


def _xes(log: LogRecord, marks: Marks) -> Iterator[bytes]:
    case, activity, time = (_mapped(log, word) for word in ("case", "activity", "time"))
    names = {activity: "concept:name", time: "time:timestamp"}
    traces: dict[str, list[tuple[int, dict[str, Value]]]] = {}
    for position, event in _events(log):
        of = log.manifest.name if case is None else event.get(case)
        traces.setdefault(canonical(of), []).append((position, event))
    yield b'<?xml version="1.0" encoding="UTF-8"?>\n'
    yield b'<log xes.version="1849-2016" xes.features="" xmlns="http://www.xes-standard.org/">\n'
    for word, prefix in (("Concept", "concept"), ("Time", "time")):
        uri = f"http://www.xes-standard.org/{prefix}.xesext"
        yield f'<extension name="{word}" prefix="{prefix}" uri="{uri}"/>\n'.encode()
    yield b'<extension name="Whence" prefix="whence" uri="urn:whence:xes"/>\n'
    yield b'<classifier name="Activity" keys="concept:name"/>\n'
    for key, events in traces.items():
        yield b"<trace>\n"
        of = json.loads(key)
        yield _attribute("concept:name", of if isinstance(of, str) else key)
        first = events[0][1]
        for column, value in first.items():
            if column.startswith(_CASE) and column != case:
                yield _attribute(column.removeprefix(_CASE), value)
        for position, event in events:
            yield b"<event>\n"
            for column, value in event.items():
                if column != case and not column.startswith(_CASE):
                    yield _attribute(names.get(column, column), value)
            yield _attribute("whence:position", position)
            for word, said in marks.get(position, {}).items():
                yield _attribute(f"whence:{word}", said)
            yield b"</event>\n"
        yield b"</trace>\n"
    yield b"</log>\n"


def _attribute(key: str, value: Value) -> bytes:
    """An attribute of XES; what is missing has none."""
    if value is None:
        return b""
    kind, text = "string", value if isinstance(value, str) else canonical(value)
    if isinstance(value, bool):
        kind, text = "boolean", "true" if value else "false"
    elif isinstance(value, int):
        kind, text = "int", str(value)
    elif isinstance(value, float):
        kind, text = "float", double_text(value)
    elif isinstance(value, datetime):
        kind, text = "date", time_text(value)
    written = (quoteattr(xml_text(clean(each))) for each in (key, text))
    return f"<{kind} key={next(written)} value={next(written)}/>\n".encode()


def _ocel(log: LogRecord, marks: Marks) -> Iterator[bytes]:
    case, activity, time = (_mapped(log, word) for word in ("case", "activity", "time"))
    if time is None:
        msg = (
            f"log {log.manifest.name}: expected one whose column of times is mapped, as OCEL "
            "asks for them; got none; try XES, or a mapping of time"
        )
        raise ParameterError(msg)
    types: dict[str, dict[str, str]] = {}
    objects: dict[str, str] = {}
    for _, event in _events(log):
        said = {k: v for k, v in event.items() if not k.startswith("ocel:") and v is not None}
        known = types.setdefault(_text(event.get(activity or "")) or "event", {})
        known.update({name: _ocel_type(value) for name, value in said.items()})
        objects.update({id: kind for id, kind, _ in _related(event, case)})
    marked = {"whence:position": "integer", "whence:explains": "boolean"}
    marked.update({"whence:supports": "boolean", "whence:fields": "string"})
    yield b'{"objectTypes": '
    yield _json([{"name": kind, "attributes": []} for kind in sorted(set(objects.values()))])
    yield b',\n"eventTypes": '
    yield _json(
        [
            {
                "name": name,
                "attributes": [{"name": k, "type": t} for k, t in {**known, **marked}.items()],
            }
            for name, known in types.items()
        ]
    )
    yield b',\n"objects": '
    yield _json([{"id": i, "type": kind, "attributes": []} for i, kind in objects.items()])
    yield b',\n"events": [\n'
    for position, event in _events(log):
        when = event.get(time)
        if not isinstance(when, datetime):
            msg = (
                f"log {log.manifest.name}, position {position}: expected a time, as OCEL asks "
                f"for one; got {canonical(when)}; try XES"
            )
            raise ParameterError(msg)
        said = {k: v for k, v in event.items() if not k.startswith("ocel:") and v is not None}
        told = {f"whence:{word}": value for word, value in marks.get(position, {}).items()}
        attributes = {**said, "whence:position": position, **told}
        yield b",\n" if position else b""
        yield _json(
            {
                "id": _text(event.get("ocel:eid")) or f"e{position}",
                "type": _text(event.get(activity or "")) or "event",
                "time": time_text(when),
                "attributes": [{"name": k, "value": _plain(v)} for k, v in attributes.items()],
                "relationships": [
                    {"objectId": id, "qualifier": how} for id, _, how in _related(event, case)
                ],
            }
        )
    yield b"\n]}\n"


def _related(event: Mapping[str, Any], case: str | None) -> Iterator[tuple[str, str, str]]:
    """The objects that an event concerns: id, type, qualifier."""
    if "ocel:oid" in event:
        lists = (event[name] or [] for name in ("ocel:oid", "ocel:type", "ocel:qualifier"))
        yield from zip(*lists, strict=True)
    elif case is not None and event.get(case) is not None:
        yield _text(event[case]), "case", "case"


def _text(value: Any) -> str:
    if value is None:
        return ""
    return clean(value) if isinstance(value, str) else canonical(value)


def _ocel_type(value: Value) -> str:
    kinds = {bool: "boolean", int: "integer", float: "float", datetime: "time"}
    return kinds.get(type(value), "string")


def _plain(value: Value) -> Any:
    if isinstance(value, datetime):
        return time_text(value)
    if isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if double_text(value)[-1].isdigit() else double_text(value)
    return _text(value)


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()
