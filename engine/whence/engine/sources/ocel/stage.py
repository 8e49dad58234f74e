"""Where the parts of an object-centric log meet: a database on disk that has no name.

Whatever the file looks like, its events, objects and the links between them are put here first;
from here rows are read in order, and nothing has to fit into memory.
"""

from __future__ import annotations

import math
import sqlite3
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from whence.engine.errors import LogError
from whence.engine.sources.limits import Limits
from whence.engine.sources.opening import on_one_line
from whence.engine.values import INT64_MAX, INT64_MIN
from whence.engine.values.columns import canonical

__all__ = ["DECLARED", "Stage"]

DECLARED = {"string": "text", "integer": "integer", "float": "float", "boolean": "boolean",
            "time": "instant"}  # fmt: skip
"""The kinds of the types that a log can declare."""

_TABLES = """
CREATE TABLE events (row INTEGER PRIMARY KEY, id TEXT, type TEXT, time TEXT, line INTEGER);
CREATE TABLE attributes (row INTEGER, name TEXT, kind TEXT, value);
CREATE TABLE links (row INTEGER, object TEXT, qualifier TEXT);
CREATE TABLE objects (id TEXT, type TEXT);
CREATE TABLE changes (object TEXT, name TEXT, time TEXT, kind TEXT, value);
CREATE TABLE object_links (source TEXT, target TEXT, qualifier TEXT);
"""
_INDEXES = """
CREATE INDEX by_id ON events (id);
CREATE INDEX attributes_by_row ON attributes (row);
CREATE INDEX links_by_row ON links (row);
CREATE INDEX objects_by_id ON objects (id);
"""
_MANY = 5_000
_INSERT = {
    "events": "INSERT INTO events VALUES (?, ?, ?, ?, ?)",
    "attributes": "INSERT INTO attributes VALUES (?, ?, ?, ?)",
    "links": "INSERT INTO links VALUES (?, ?, ?)",
    "objects": "INSERT INTO objects VALUES (?, ?)",
    "changes": "INSERT INTO changes VALUES (?, ?, ?, ?, ?)",
    "object_links": "INSERT INTO object_links VALUES (?, ?, ?)",
}

_TEXTS = {
    "events": ("id", "type", "time"),
    "attributes": ("name", "value"),
    "links": ("object", "qualifier"),
    "objects": ("id", "type"),
    "changes": ("name", "value"),
}


class Stage:
    """The parts of one log.

    Attributes:
        db: the database.
        declared: the kind that a type of event declares for an attribute.
        event_types: the types of events that are declared, in order.
        object_types: likewise of objects.
    """

    def __init__(self, name: str, limits: Limits) -> None:
        """Begin with nothing; ``name`` is the log's name, for errors."""
        self.name, self.limits = name, limits
        self.db = sqlite3.connect("", check_same_thread=False, isolation_level=None, uri=True)
        weakref.finalize(self, self.db.close)
        self.db.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;" + _TABLES)
        self.declared: dict[tuple[str, str], str] = {}
        self.event_types: list[str] = []
        self.object_types: list[str] = []
        self._waiting: dict[str, list[tuple[Any, ...]]] = {table: [] for table in _INSERT}
        self._rows = 0

    def add(self, table: str, *row: Any) -> None:
        """Put a row into a table, soon."""
        waiting = self._waiting[table]
        waiting.append(row)
        if len(waiting) >= _MANY:
            self._flush(table)

    def event(self, id: str, type: str, time: str | None, line: int | None) -> int:
        """Add an event; its row number."""
        row = self._rows
        self._rows += 1
        self.limits.check("events", self._rows, self.name)
        self.add("events", row, id, type, time, line)
        return row

    def attribute(self, row: int, name: str, value: Any) -> None:
        """Add an attribute of an event."""
        if value is not None:
            self.add("attributes", row, name, *stored(value))

    def change(self, object: str, name: str, time: str | None, value: Any) -> None:
        """Add a value that an attribute of an object takes."""
        if value is not None:
            self.add("changes", object, name, time, *stored(value))

    def finish(self) -> None:
        """Make the parts ready to be read.

        Raises:
            LogError: an event or an object is there twice.
        """
        for table in _INSERT:
            self._flush(table)
        with self.whole():
            self._check()

    def _check(self) -> None:
        self.db.executescript(_INDEXES)
        for table, what in (("events", "event"), ("objects", "object")):
            twice = f"SELECT id FROM {table} GROUP BY id HAVING count(*) > 1 OR id IS NULL LIMIT 1"
            for (id,) in self.db.execute(twice):
                got = "one without" if id is None else f"{id!r} twice"
                msg = (
                    f"{self.name}: expected {what}s with ids that differ; got {got}; try mending it"
                )
                raise LogError(msg)
        for table, columns in _TEXTS.items():
            longest = ", ".join(f"coalesce(max(length({column})), 0)" for column in columns)
            found = self.db.execute(f"SELECT {longest} FROM {table}").fetchone()
            self.limits.check("text", max(found), self.name)
        for table, known in (("events", self.event_types), ("objects", self.object_types)):
            found = f"SELECT type FROM {table} GROUP BY type ORDER BY min(rowid)"
            known += [type for (type,) in self.db.execute(found) if type not in known]

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Say in one line what is wrong with a database, or with texts that came from one.

        Raises:
            LogError: something is.
        """
        try:
            yield
        except (sqlite3.Error, OverflowError) as fault:
            if "too big" in str(fault):
                raise self.limits.exceeded("text", self.name) from fault
            expected, got = "a whole SQLite database", on_one_line(str(fault))
            if "UTF-8" in got:
                expected, got = "texts in UTF-8", "other bytes in a table"
            msg = f"{self.name}: expected {expected}; got {got}; try fetching it again"
            raise LogError(msg) from fault

    def count(self, table: str) -> int:
        """How many rows a table has."""
        return int(self.db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])

    def counts(self, table: str) -> dict[str, int]:
        """How many events or objects there are of each type."""
        return dict(self.db.execute(f"SELECT type, count(*) FROM {table} GROUP BY type"))

    def rows(self, query: str, *given: Any, many: int = _MANY) -> Iterator[Sequence[Any]]:
        """The answer to a query, many rows at a time."""
        with self.whole():
            cursor = self.db.execute(query, given)
            while rows := cursor.fetchmany(many):
                yield rows

    def _flush(self, table: str) -> None:
        waiting = self._waiting[table]
        if waiting:
            self.db.execute("BEGIN")
            self.db.executemany(_INSERT[table], waiting)
            self.db.execute("COMMIT")
            waiting.clear()


def stored(value: Any) -> tuple[str, Any]:
    """A value as the stage keeps it: its kind, and what SQLite can hold of it."""
    if isinstance(value, bool):
        return "boolean", int(value)
    if isinstance(value, int):
        fits = INT64_MIN <= value <= INT64_MAX
        return ("integer", value) if fits else ("huge", str(value)[:60])
    if isinstance(value, float):
        return ("float", value) if math.isfinite(value) else ("huge", str(value))
    if isinstance(value, str):
        return "text", value
    return "any", canonical(value)
