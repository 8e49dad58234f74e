"""OCEL 2.0 in XML."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from whence.engine.errors import LogError
from whence.engine.sources.ocel.stage import DECLARED, Stage
from whence.engine.sources.opening import LogBytes, on_one_line
from whence.engine.sources.xes.pieces import declared_encoding, xml_parser, xml_problem

__all__ = ["stage_xml"]

_BLOCK = 1 << 20
_OLD = {"string", "date", "int", "float", "boolean", "list", "global"}
_DEEP = 8


def stage_xml(stage: Stage, file: Path, encoding: str | None) -> None:
    """Put the parts of an XML file onto the stage.

    Raises:
        LogError: it is no XML, or no OCEL 2.0.
    """
    encoding = encoding or declared_encoding(file, stage.limits)
    with LogBytes(file, stage.limits, encoding=encoding) as stream:
        _Parts(stage).read(stream)


class _Parts:
    """Follows the elements; the place is the path of their names."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.parser = xml_parser(stage.name)
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.buffer_text = True
        self.path: list[str] = []
        self.seen: set[str] = set()
        self.type = self.id = self.name = ""
        self.time: str | None = None
        self.row = self.count = 0
        self.text: list[str] | None = None
        self.length = self.since = self.byte = 0

    def read(self, stream: LogBytes) -> None:
        over = False
        while not over:
            block = stream.read(_BLOCK)
            over = not block
            try:
                self.parser.Parse(block, over)
            except expat.ExpatError as fault:
                raise xml_problem(self.stage.name, fault) from fault
            self.byte += len(block)
            self.stage.limits.check("row", self.byte - self.since, self.where())
        for part in ("events", "objects"):
            if part not in self.seen:
                self.refuse(f"the element <{part}> of OCEL 2.0", "none", "another --log-format")

    def where(self) -> str:
        return f"{self.stage.name}, line {self.parser.CurrentLineNumber}"

    def refuse(self, expected: str, got: str, hint: str) -> NoReturn:
        msg = f"{self.where()}: expected {expected}; got {got}; try {hint}"
        raise LogError(msg)

    def _need(self, found: dict[str, str], name: str) -> str:
        if name not in found:
            self.refuse(f"<{self.path[-1]} {name}=...>", "none", "OCEL 2.0")
        if len(found[name]) > self.stage.limits.text:
            raise self.stage.limits.exceeded("text", self.where())
        return found[name]

    def _start(self, raw: str, found: dict[str, str]) -> None:
        name = raw.rpartition(":")[2]
        self.path.append(name)
        limits = self.stage.limits
        limits.check("nesting", max(0, len(self.path) - _DEEP), self.where())
        match self.path[1:]:
            case []:
                if name != "log":
                    self.refuse("OCEL, which begins with <log>", f"<{on_one_line(name)}>",
                                "another --log-format")  # fmt: skip
            case [part]:
                if part in _OLD:
                    self.refuse("OCEL 2.0", f"OCEL 1.0 or XES (<{part}>)", "saving it as OCEL 2.0")
                self.seen.add(part)
            case ["event-types", "event-type"]:
                self.type = self._need(found, "name")
                self.stage.event_types.append(self.type)
            case ["object-types", "object-type"]:
                self.stage.object_types.append(self._need(found, "name"))
            case ["event-types", "event-type", "attributes", "attribute"]:
                kind = DECLARED.get(self._need(found, "type"))
                if kind is not None:
                    self.stage.declared[self.type, self._need(found, "name")] = kind
            case ["events", "event"]:
                self._begin()
                line = self.parser.CurrentLineNumber
                self.row = self.stage.event(
                    self._need(found, "id"), self._need(found, "type"), found.get("time"), line
                )
            case ["objects", "object"]:
                self._begin()
                self.id = self._need(found, "id")
                self.stage.add("objects", self.id, self._need(found, "type"))
            case ["events" | "objects", "event" | "object", "attributes", "attribute"]:
                self._counted()
                self.name, self.time = self._need(found, "name"), found.get("time")
                self.text, self.length = [], 0
            case ["events", "event", "objects", "relationship" | "object"]:
                self._counted()
                self.stage.add(
                    "links", self.row, self._need(found, "object-id"), found.get("qualifier")
                )
            case ["objects", "object", "objects", "relationship" | "object"]:
                self._counted()
                target = self._need(found, "object-id")
                self.stage.add("object_links", self.id, target, found.get("qualifier"))
            case ["events" | "objects", "event" | "object", old, *_] if old in _OLD:
                self.refuse("OCEL 2.0", f"OCEL 1.0 (<{old}> in an event)", "saving it as OCEL 2.0")

    def _begin(self) -> None:
        self.count, self.since = 0, self.parser.CurrentByteIndex

    def _counted(self) -> None:
        self.count += 1
        self.stage.limits.check("attributes", self.count, self.where())

    def _characters(self, text: str) -> None:
        if self.text is not None:
            self.text.append(text)
            self.length += len(text)
            self.stage.limits.check("text", self.length, self.where())

    def _end(self, _: str) -> None:
        self.path.pop()
        if self.text is not None:
            text, self.text = "".join(self.text), None
            if self.path[1] == "events":
                self.stage.attribute(self.row, self.name, text)
            else:
                self.stage.change(self.id, self.name, self.time, text)
