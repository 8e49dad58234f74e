"""OCEL 2.0 in JSON."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from whence.engine.errors import LogError
from whence.engine.sources.ocel.json_stream import JsonStream
from whence.engine.sources.ocel.stage import DECLARED, Stage
from whence.engine.sources.opening import LogBytes

__all__ = ["stage_json"]

_PARTS = ("eventTypes", "objectTypes", "events", "objects")
_DEEP = 8
"""How deep OCEL itself goes."""


def stage_json(stage: Stage, file: Path, encoding: str | None) -> None:
    """Put the parts of a JSON file onto the stage.

    Raises:
        LogError: it is no JSON, or no OCEL 2.0.
    """
    with LogBytes(file, stage.limits, encoding=encoding) as stream:
        _Parts(stage, JsonStream(stream, stage.name, stage.limits)).read()


class _Parts:
    def __init__(self, stage: Stage, json: JsonStream) -> None:
        self.stage, self.json = stage, json
        self.line = 1

    def read(self) -> None:
        seen = set()
        for name in self.json.members():
            if name.startswith("ocel:"):
                self.refuse(
                    "OCEL 2.0", f"OCEL 1.0 (the member {name[:60]!r})", "saving it as OCEL 2.0"
                )
            if name in seen:
                self.refuse("each part once", f"{name[:60]!r} twice", "mending the file")
            seen.add(name)
            if name not in _PARTS:
                self.json.value()
                continue
            for item in self._items():
                getattr(self, f"_{name}")(self._object(item, "an object {...}"))
        missing = [part for part in ("events", "objects") if part not in seen]
        if missing:
            self.refuse(f"the member {missing[0]!r} of OCEL 2.0", "none", "another --log-format")

    def refuse(self, expected: str, got: str, hint: str) -> NoReturn:
        msg = f"{self.stage.name}, line {self.line}: expected {expected}; got {got}; try {hint}"
        raise LogError(msg)

    def _items(self) -> Iterator[Any]:
        items = self.json.items()
        while True:
            self.line = self.json.line
            item = next(items, self)
            if item is self:
                return
            self._check_depth(item, self.stage.limits.nesting + _DEEP)
            yield item

    def _check_depth(self, value: Any, left: int) -> None:
        if left < 0:
            where = f"{self.stage.name}, line {self.line}"
            raise self.stage.limits.exceeded("nesting", where)
        inside = value.values() if isinstance(value, dict) else value
        if isinstance(value, dict | list):
            for each in inside:
                self._check_depth(each, left - 1)
        elif isinstance(value, str) and len(value) > self.stage.limits.text:
            raise self.stage.limits.exceeded("text", f"{self.stage.name}, line {self.line}")

    def _object(self, item: Any, what: str) -> dict[str, Any]:
        if not isinstance(item, dict):
            self.refuse(what, repr(item)[:60], "OCEL 2.0")
        return item

    def _text(self, item: dict[str, Any], name: str) -> str:
        """A member that has to be text; numbers are taken for ids, which compare as text."""
        found = item.get(name)
        if isinstance(found, int) and not isinstance(found, bool):
            return str(found)
        if not isinstance(found, str):
            self.refuse(f"a text {name!r}", repr(found)[:60], "OCEL 2.0")
        return found

    def _list(self, item: dict[str, Any], name: str) -> list[dict[str, Any]]:
        found = item.get(name) or []
        if not isinstance(found, list):
            self.refuse(f"a list {name!r}", repr(found)[:60], "OCEL 2.0")
        self.stage.limits.check("attributes", len(found), f"{self.stage.name}, line {self.line}")
        return [self._object(each, f"objects in {name!r}") for each in found]

    def _eventTypes(self, item: dict[str, Any]) -> None:
        type = self._text(item, "name")
        self.stage.event_types.append(type)
        for attribute in self._list(item, "attributes"):
            kind = DECLARED.get(self._text(attribute, "type"))
            if kind is not None:
                self.stage.declared[type, self._text(attribute, "name")] = kind

    def _objectTypes(self, item: dict[str, Any]) -> None:
        self.stage.object_types.append(self._text(item, "name"))

    def _events(self, item: dict[str, Any]) -> None:
        time = item.get("time")
        row = self.stage.event(
            self._text(item, "id"),
            self._text(item, "type"),
            None if time is None else str(time),
            self.line,
        )
        for attribute in self._list(item, "attributes"):
            self.stage.attribute(row, self._text(attribute, "name"), attribute.get("value"))
        for link in self._list(item, "relationships"):
            self.stage.add(
                "links", row, self._text(link, "objectId"), _plain(link.get("qualifier"))
            )

    def _objects(self, item: dict[str, Any]) -> None:
        id = self._text(item, "id")
        self.stage.add("objects", id, self._text(item, "type"))
        for change in self._list(item, "attributes"):
            name, time = self._text(change, "name"), change.get("time")
            self.stage.change(id, name, _plain(time), change.get("value"))
        for link in self._list(item, "relationships"):
            target = self._text(link, "objectId")
            self.stage.add("object_links", id, target, _plain(link.get("qualifier")))


def _plain(value: Any) -> str | None:
    return None if value is None else str(value)
