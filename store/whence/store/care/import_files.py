"""Files for Neo4j's offline importer: nodes and relationships, one file for each shape.

A column of such a file has one type. So what has the same labels and the same properties of the
same types goes into one file, and its header says what they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from whence.engine.errors import StoreError
from whence.engine.lineage.association import INNER_WIDTH
from whence.engine.lineage.positions import Range
from whence.store.places import WIDE, WIDE_BITS, key_of, no_of, position_of

__all__ = ["EMPTY_MARK", "ImportFiles"]

LIST_MARK = "\x1f"
"""Between the members of a list; texts in lists are names of fields, which never have it."""
EMPTY_MARK = "\x1e"
"""The one member of a list that has none: the importer makes no empty lists."""
BUFFER = 1 << 20
FIRST_WIDE = key_of(WIDE, 0)
OUTER_BITS, INDEX_BITS = 24, 16

Shape = tuple[str, ...]


class ImportFiles:
    """Writes nodes and relationships into files, however many; memory stays the same.

    Attributes:
        folder: where the files are.
        nodes: how many nodes were written.
        edges: how many relationships.
        to_mend: ranges of keys from which edges lead that should have an empty list.
        packed: of each chunk its id, the file with its packed edges, and their bounds.
    """

    def __init__(self, folder: Path) -> None:
        """Begin with none."""
        self.folder = folder
        self.nodes = self.edges = 0
        self.to_mend: list[Range] = []
        self.packed: list[tuple[str, Path, list[int]]] = []
        self._files: dict[Shape, IO[str]] = {}
        self._arguments: list[str] = []

    def __enter__(self) -> ImportFiles:
        """Close all files at the end."""
        return self

    def __exit__(self, *failure: object) -> None:
        """Close all files."""
        for file in self._files.values():
            file.close()

    def node(self, labels: str, group: str, id: int, properties: Mapping[str, Any]) -> None:
        """Write a node.

        Args:
            labels: its labels, with colons between them.
            group: within which ids are told apart.
            id: its id there; of an end also its property ``key``.
            properties: those that are ``None`` are left out.
        """
        given = {name: value for name, value in properties.items() if value is not None}
        id_name = "key" if group == "End" else ""
        if group == "Event":
            id = _import_id(id)  # its key is a property like any other
        given.pop(id_name, None)
        types = [_type(name, value) for name, value in given.items()]
        columns = [f"{id_name}:ID({group})", *types]
        self._write(("nodes", labels, *columns), [str(id), *map(_cell, given.values())])
        self.nodes += 1

    def edge(
        self,
        type: str,
        source: tuple[str, int],
        target: tuple[str, int],
        properties: Mapping[str, Any],
    ) -> None:
        """Write a relationship between nodes, each told by group and id."""
        self.edges_from(type, source[0], [source[1]], target[0], [target[1]], properties)

    def edges_from(
        self,
        type: str,
        source_group: str,
        sources: Sequence[int],
        target_group: str,
        targets: Iterable[int],
        properties: Mapping[str, Any],
    ) -> None:
        """Write relationships from each source to each target, all with the same properties."""
        types = [_type(name, value) for name, value in properties.items()]
        columns = [f":START_ID({source_group})", f":END_ID({target_group})", *types]
        cells = [_cell(value) for value in properties.values()]
        shape = ("relationships", type, *columns)
        starts = [str(_import_id(source)) for source in sources]
        for target in targets:
            end = str(_import_id(target))
            for start in starts:
                self._write(shape, [start, end, *cells])
                self.edges += 1

    def pack(self, chunk: str, packed: bytes, bounds: list[int]) -> None:
        """Keep the packed edges of a chunk: the importer reads no bytes, so they come later."""
        path = self.folder / f"packed-{len(self.packed):06d}"
        path.write_bytes(packed)
        self.packed.append((chunk, path, bounds))

    def _write(self, shape: Shape, cells: list[str]) -> None:
        file = self._files.get(shape)
        if file is None:
            file = self._open(shape)
        file.write(",".join(cells))
        file.write("\n")

    def _open(self, shape: Shape) -> IO[str]:
        path = self.folder / f"{shape[0]}-{len(self._files):04d}.csv"
        file = path.open("w", encoding="utf-8", buffering=BUFFER, newline="")
        file.write(",".join(f'"{column}"' for column in shape[2:]) + "\n")
        self._files[shape] = file
        self._arguments.append(f"--{shape[0]}={shape[1]}={path}")
        return file

    def arguments(self) -> list[str]:
        """What the importer is told."""
        return [
            *self._arguments,
            "--id-type=integer",
            f"--array-delimiter=U+{ord(LIST_MARK):04X}",
            "--multiline-fields=true",
            "--strict=true",
        ]


def _import_id(key: int) -> int:
    """What the importer knows an event by: it takes numbers of 56 bits.

    A key inside a Slice has 62: it is told by the stream, the position in the whole stream, and
    the index there, of which there are seldom more than one.
    """
    if key < FIRST_WIDE:
        return key
    stream = (no_of(key) - WIDE) >> WIDE_BITS
    outer, index = divmod(position_of(key), INNER_WIDTH)
    if index >= 1 << INDEX_BITS:
        msg = (
            f"events inside a Slice: expected at most {1 << INDEX_BITS:,} at one position; "
            f"got more at {outer:,}; try whence load, which needs no files"
        )
        raise StoreError(msg)
    return 1 << 55 | stream << (OUTER_BITS + INDEX_BITS) | outer << INDEX_BITS | index


def _type(name: str, value: Any) -> str:
    members = isinstance(value, (list, tuple))
    one = value[0] if members and value else value
    kinds = {bool: "boolean", int: "long", float: "double", str: "string"}
    kind = "datetime" if isinstance(one, datetime) else kinds.get(type(one), "string")
    return f"{name}:{kind}[]" if members else f"{name}:{kind}"


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, (list, tuple)):
        return _quoted(LIST_MARK.join(map(_member, value)) if value else EMPTY_MARK)
    return _quoted(str(value))


def _member(value: Any) -> str:
    if isinstance(value, str):
        if LIST_MARK in value or EMPTY_MARK in value:
            msg = (
                "a field's name: expected one without the characters U+001E and U+001F; got "
                f"{json.dumps(value)}; try whence load, which needs no files"
            )
            raise StoreError(msg)
        return value
    return _cell(value)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
