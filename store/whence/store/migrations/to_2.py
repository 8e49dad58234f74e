"""From version 1 to 2: markers name the keys they own, and their digest can be recomputed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from whence.engine.lineage.positions import Range
from whence.store.connection import Connection
from whence.store.cypher import cypher
from whence.store.loading.reading_back import read_chunk
from whence.store.places import key_of

__all__ = ["add_chunk_ownership"]

Row = Mapping[str, Any]


def add_chunk_ownership(connection: Connection) -> None:
    """Complete every marker from what the graph holds of its chunk."""
    known = {row["id"]: row for row in connection.read(cypher("migrate_owners"))}
    parts: dict[str, list[tuple[int, Row]]] = {}
    for row in connection.read(cypher("chunks_read"), prefix=""):
        kind, _, rest = row["id"].partition("/")
        owner, _, part = rest.rpartition("/")
        if owner in known and kind in ("log", "run"):
            parts.setdefault(owner, []).append((int(part), row))
    for owner, several in parts.items():
        _complete(connection, known, owner, sorted(several, key=lambda each: each[0]))


def _complete(
    connection: Connection, known: Mapping[str, Row], owner: str, parts: Iterable[tuple[int, Row]]
) -> None:
    about = known[owner]
    choices = known.get(f"{owner}/choices")
    next_choice = 0
    for part, marker in parts:
        owns: list[Range] = []
        first = key_of(about["no"], part * about["width"])
        own = _within(connection, first, first + about["width"] - 1, marker["events"])
        owns += _ends(own)
        left = marker["events"] - len(own)
        if choices is not None and left > 0:
            # Choices are numbered in the order in which parts meet them.
            first = key_of(choices["no"], next_choice)
            met = _within(connection, first, key_of(choices["no"] + 1, 0) - 1, left)
            owns += _ends(met)
            next_choice += len(met)
        if about["end"] and marker["edges"]:
            end = key_of(about["no"], 0)
            owns.append((end, end))
        if marker["owns"] is None:
            seen = read_chunk(connection, owns)
            connection.write(
                cypher("migrate_marker"),
                id=marker["id"],
                owns=[key for pair in owns for key in pair],
                heads=marker["spans"] - seen.bands.total(),
                digest=seen.digest,
            )


def _within(connection: Connection, first: int, last: int, most: int) -> list[int]:
    if not most:
        return []
    row = connection.read(cypher("check_events"), first=first, last=last, page=most)[0]
    keys: list[int] = row["keys"]
    return keys


def _ends(keys: list[int]) -> list[Range]:
    return [(keys[0], keys[-1])] if keys else []
