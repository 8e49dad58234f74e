"""XES read the slow and obvious way, to compare with."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TypeAlias
from xml.parsers import expat

Attribute: TypeAlias = tuple[str, str, str | None, list["Attribute"]]
"""The element's name, its key, its value, what is inside."""


def _local(name: str) -> str:
    return name.rpartition(":")[2]


def events_by_expat(path: Path) -> list[tuple[list[Attribute], list[Attribute]]]:
    """Each event: the attributes of its trace, and its own."""
    raw = path.read_bytes()
    raw = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    events: list[tuple[list[Attribute], list[Attribute]]] = []
    root: Attribute = ("", "", None, [])
    stack: list[Attribute] = [root]

    def start(name: str, found: dict[str, str]) -> None:
        made: Attribute = (_local(name), found.get("key", ""), found.get("value"), [])
        stack[-1][3].append(made)
        stack.append(made)

    def end(name: str) -> None:
        done = stack.pop()
        if done[0] == "trace" and len(stack) == 2:
            shared = [child for child in done[3] if child[0] != "event"]
            events.extend((shared, child[3]) for child in done[3] if child[0] == "event")
            stack[-1][3].clear()

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.Parse(raw, True)
    return events
