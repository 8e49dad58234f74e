"""OCEL 2.0 logs as a source.

An event concerns objects of several types. Each type has a column with the list of the event's
objects; a Slice by such a column puts the event into the slice of each of them. An event without
an object of the type has an empty list and goes into no slice. Positions stay those of events.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from whence.engine.errors import LogError
from whence.engine.sources.cells import zone_of
from whence.engine.sources.file_source import FileSource, check_stated, free_names
from whence.engine.sources.ocel.attributes import Attributes
from whence.engine.sources.ocel.json_file import stage_json
from whence.engine.sources.ocel.sqlite_file import stage_sqlite
from whence.engine.sources.ocel.stage import Stage
from whence.engine.sources.ocel.xml_file import stage_xml
from whence.engine.sources.opening import LogBytes, has_changed, readable, shown
from whence.engine.sources.source import Reading, Split, source_schema
from whence.engine.sources.typed import typed
from whence.engine.values import ValueFault
from whence.engine.values.columns import as_column

__all__ = ["OcelSource"]

_FIXED = {"ocel:eid": "text", "ocel:activity": "text", "ocel:timestamp": "instant"}
_LISTS = ("ocel:oid", "ocel:type", "ocel:qualifier")
_ROWS = 5_000
_SQLITE = b"SQLite format 3\0"


class OcelSource(FileSource):
    """A log in one OCEL 2.0 file: SQLite, JSON or XML, plain or packed.

    Columns: ``ocel:eid``, ``ocel:activity``, ``ocel:timestamp``, the attributes of events, and of
    the objects that an event concerns the lists ``ocel:oid``, ``ocel:type``, ``ocel:qualifier``,
    one entry an object; then for each type of object ``ocel:type:NAME``, the list of its objects.

    Attributes:
        details: how many events, objects and links there are, by type.
    """

    format = "ocel"

    def __init__(self, files: Sequence[Path], reading: Reading) -> None:
        """Put the parts of the log together.

        Raises:
            LogError: it is no OCEL 2.0, contradicts itself, or has no such type of object.
        """
        super().__init__(files, reading)
        if len(files) > 1:
            msg = f"{self.name}: expected one OCEL file; got {len(files)}; try them one by one"
            raise LogError(msg)
        self._zone = zone_of(reading.timezone)
        self._stage: Stage | None = None
        stage = self._staged()
        self._attributes = Attributes(stage, reading, self._zone)
        self.details: dict[str, Any] = {
            "events": stage.counts("events"),
            "objects": stage.counts("objects"),
            "event_object": stage.count("links"),
            "object_object": stage.count("object_links"),
            "object_changes": stage.count("changes"),
        }
        self._types = list(stage.object_types)
        of_types = [f"ocel:type:{name}" for name in self._types]
        reserved = [*_FIXED, *_LISTS, *of_types]
        names = free_names([*self._attributes.kinds, *reserved])
        own = names[: len(self._attributes.kinds)]
        for name in own:
            if name in reserved:
                msg = (
                    f"{self.name}: expected attributes with names of their own; got {name!r}, "
                    "which is a column of every OCEL log; try renaming it"
                )
                raise LogError(msg)
        _check_fixed(self.name, reserved, reading)
        stated = {name: kind for name, kind in reading.kinds.items() if name not in reserved}
        check_stated(self.name, list(self._attributes.kinds), stated)
        self.columns = {
            **_FIXED,
            **dict(zip(own, self._attributes.kinds.values(), strict=True)),
            **dict.fromkeys([*_LISTS, *of_types], "any"),
        }
        reading.limits.check("columns", len(self.columns), self.name)
        self.roles = {"activity": "ocel:activity", "time": "ocel:timestamp", "id": "ocel:eid"}
        if reading.object_type is not None:
            self.roles = {"case": self._case(reading.object_type), **self.roles}

    def splits(self, wanted: int) -> Sequence[Split]:
        """One: events and what they concern are in different places of the file."""
        return (Split(),)

    def read(self, split: Split | None) -> Iterator[pa.RecordBatch]:
        """The events in the order of the file."""
        stage = self._staged()
        total = stage.count("events")
        schema = source_schema(self.columns)
        query = "SELECT row, id, type, time, line FROM events ORDER BY row"
        for events in stage.rows(query, many=_ROWS):
            yield self._batch(stage, events, schema)
            if total > _ROWS:
                self.tell(self._size * (int(events[-1][0]) + 1) // total, self._size)

    def objects(self) -> Iterator[pa.RecordBatch]:
        """All objects, also those that no event concerns: id and type."""
        yield from self._table("SELECT id, type FROM objects", ["ocel:oid", "ocel:type"])

    def object_links(self) -> Iterator[pa.RecordBatch]:
        """What relates objects to each other."""
        names = ["ocel:oid", "ocel:oid_2", "ocel:qualifier"]
        yield from self._table("SELECT source, target, qualifier FROM object_links", names)

    def object_changes(self) -> Iterator[pa.RecordBatch]:
        """The values that attributes of objects take, as text, and since when."""
        names = ["ocel:oid", "name", "time", "value"]
        query = "SELECT object, name, time, CAST(value AS TEXT) FROM changes"
        yield from self._table(query, names)

    def __getstate__(self) -> dict[str, Any]:
        """Travel without what is on this machine's disk."""
        return {**self.__dict__, "_stage": None}

    @property
    def _size(self) -> int:
        return self.files[0].stat().st_size

    def _case(self, type: str) -> str:
        if type not in self._types:
            near = get_close_matches(type, self._types, n=1)
            hint = f"{near[0]!r} (did you mean that?)" if near else ", ".join(self._types)
            msg = f"{self.name}: expected a type of object; got {type!r}; try {hint or 'none'}"
            raise LogError(msg)
        return f"ocel:type:{type}"

    def _staged(self) -> Stage:
        """The parts of the log; put together once in each process."""
        if self._stage is not None:
            return self._stage
        file, encoding = self.files[0], self.reading.encoding
        stage = Stage(shown(file), self.reading.limits)
        with LogBytes(file, self.reading.limits) as stream:
            head = stream.read(1 << 12).lstrip()
            packed = stream.packed
        if head.startswith(_SQLITE):
            if packed:
                with tempfile.NamedTemporaryFile(suffix=".sqlite") as copy:
                    with LogBytes(file, self.reading.limits) as stream:
                        shutil.copyfileobj(stream, copy)
                    copy.flush()
                    stage_sqlite(stage, Path(copy.name))
            else:
                with readable(file):
                    stage_sqlite(stage, file)
        elif head.lstrip(b"\xef\xbb\xbf\xff\xfe\0").startswith(b"<"):
            stage_xml(stage, file, encoding)
        else:
            stage_json(stage, file, encoding)
        stage.finish()
        if self.fingerprint() != self._as_opened:
            raise has_changed(self.name)
        self._stage = stage
        return stage

    def _batch(self, stage: Stage, events: Sequence[Any], schema: pa.Schema) -> pa.RecordBatch:
        rows, ids, types, times, lines = zip(*events, strict=True)
        first, last = rows[0], rows[-1]
        line_of = dict(zip(rows, lines, strict=True))
        bad: set[int] = set()

        def fault(row: int, column: str, problem: object) -> None:
            self.bad(0, row, line_of[row], column, problem)
            bad.add(row - first)

        instants, faults = typed(pa.array(times, pa.string()), "instant", self.reading.timezone)
        none = ValueFault("a time", "none", "--on-bad keep, if it may be missing")
        faults += [(index, none) for index, time in enumerate(times) if time is None]
        for index, problem in sorted(faults, key=lambda found: found[0]):
            fault(first + index, "ocel:timestamp", problem)
        own = self._attributes.at(stage).columns(first, last, types, fault)
        listed = self._lists(stage, first, last, fault)
        made = [
            pa.array(np.arange(first, last + 1, dtype=np.int64)),
            pa.array(ids, pa.string()),
            pa.array(types, pa.string()),
            instants,
            *own,
            *listed,
        ]
        batch = pa.RecordBatch.from_arrays(made, schema=schema)
        if bad and self.reading.on_bad == "drop":
            fits = np.ones(len(events), bool)
            fits[list(bad)] = False
            self.report.drop(len(bad))
            batch = batch.filter(pa.array(fits))
        return batch

    def _lists(self, stage: Stage, first: int, last: int, fault: Any) -> list[pa.Array]:
        """The lists of objects: all with their types and qualifiers, then those of each type."""
        count = last - first + 1
        together: list[list[list[str | None]]] = [[[] for _ in range(count)] for _ in _LISTS]
        by_type: dict[str, list[list[str]]] = {t: [[] for _ in range(count)] for t in self._types}
        query = (
            "SELECT l.row, l.object, o.type, l.qualifier FROM links l "
            "LEFT JOIN objects o ON o.id = l.object "
            "WHERE l.row BETWEEN ? AND ? ORDER BY l.row, l.rowid"
        )
        for found in stage.rows(query, first, last):
            for row, object, type, qualifier in found:
                if type is None:
                    problem = ValueFault(
                        "objects of the log", repr(object)[:60], "adding it to the objects"
                    )
                    fault(row, "ocel:oid", problem)
                    continue
                for place, value in zip(together, (object, type, qualifier), strict=True):
                    place[row - first].append(value)
                by_type[type][row - first].append(object)
        columns: list[list[Any]] = [*together, *by_type.values()]
        return [as_column(lists, "any") for lists in columns]

    def _table(self, query: str, names: list[str]) -> Iterator[pa.RecordBatch]:
        for rows in self._staged().rows(query):
            columns = [pa.array(values, pa.string()) for values in zip(*rows, strict=True)]
            yield pa.RecordBatch.from_arrays(columns, names)


def _check_fixed(where: str, reserved: Sequence[str], reading: Reading) -> None:
    """The format's own columns have their kinds."""
    for name in reserved:
        kind = _FIXED.get(name, "any")
        stated = reading.kinds.get(name, kind)
        if stated != kind:
            msg = f"{where}: expected {name!r} to stay {kind}; got {stated!r}; try leaving it out"
            raise LogError(msg)
