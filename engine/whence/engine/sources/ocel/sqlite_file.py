"""OCEL 2.0 in SQLite: read-only, through the map tables, tables only."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from whence.engine.errors import LogError
from whence.engine.sources.ocel.stage import Stage

__all__ = ["stage_sqlite"]

_KINDS = {"INTEGER": "integer", "REAL": "float", "TEXT": "text", "BOOLEAN": "boolean",
          "TIMESTAMP": "instant", "DATETIME": "instant"}  # fmt: skip
_KIND = (
    "CASE typeof({0}) WHEN 'integer' THEN 'integer' WHEN 'real' THEN 'float' "
    "WHEN 'blob' THEN 'bytes' ELSE 'text' END"
)
_STRAYS = "rows of known events; got {} others"
_OWN = {"ocel_id", "ocel_time", "ocel_changed_field"}


def stage_sqlite(stage: Stage, file: Path) -> None:
    """Put the parts of a database onto the stage.

    Raises:
        LogError: it is no database, no OCEL 2.0, or its tables contradict each other.
    """
    with stage.whole(), _attached(stage, file):
        tables = _tables(stage)
        _Copy(stage, tables, file.stat().st_size).all()


@contextmanager
def _attached(stage: Stage, file: Path) -> Iterator[None]:
    # Without this SQLite would write lock files next to a log in WAL mode;
    # with a WAL file beside it the log is only whole if SQLite reads that too.
    waiting = file.with_name(file.name + "-wal")
    alone = "" if waiting.exists() and waiting.stat().st_size else "&immutable=1"
    stage.db.execute("PRAGMA trusted_schema=OFF")
    stage.db.execute("PRAGMA cell_size_check=ON")
    most = 4 * max(stage.limits.text, 1 << 20)
    stage.db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(most, 1 << 30))
    stage.db.execute("ATTACH ? AS log", (f"file:{quote(str(file.resolve()))}?mode=ro{alone}",))
    try:
        yield
    finally:
        stage.db.execute("DETACH log")


def _tables(stage: Stage) -> dict[str, list[tuple[str, str]]]:
    """The real tables and their columns with declared types; no views, which could run anything."""
    listed = stage.db.execute(
        "SELECT name FROM log.sqlite_master WHERE type = 'table' AND rootpage > 0"
    )
    found: dict[str, list[tuple[str, str]]] = {}
    for (table,) in listed.fetchall():
        columns = stage.db.execute("SELECT name, type FROM pragma_table_info(?, 'log')", (table,))
        found[str(table)] = [(str(name), str(type).upper()) for name, type in columns]
    needed = {
        "event": ("ocel_id", "ocel_type"),
        "object": ("ocel_id", "ocel_type"),
        "event_object": ("ocel_event_id", "ocel_object_id", "ocel_qualifier"),
        "event_map_type": ("ocel_type", "ocel_type_map"),
        "object_map_type": ("ocel_type", "ocel_type_map"),
    }
    for table, names in needed.items():
        missing = set(names) - {name for name, _ in found.get(table, [])}
        if missing:
            _refuse_other(stage, found)
            got = f"no column {min(missing)}" if table in found else "no such table"
            msg = (
                f"{stage.name}: expected the table {table} of OCEL 2.0; got {got}; "
                "try another export"
            )
            raise LogError(msg)
    return found


def _refuse_other(stage: Stage, found: dict[str, list[tuple[str, str]]]) -> None:
    if {"events", "objects", "relations"} <= {table.lower() for table in found}:
        msg = (
            f"{stage.name}: expected OCEL 2.0; got OCEL 1.0 (tables events, objects, relations); "
            "try saving it as OCEL 2.0"
        )
        raise LogError(msg)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


class _Copy:
    """Copies an attached log; no table can have more rows than the file has bytes."""

    def __init__(self, stage: Stage, tables: dict[str, list[tuple[str, str]]], size: int) -> None:
        self.stage, self.tables = stage, tables
        self.most = min(size, stage.limits.events)

    def all(self) -> None:
        db = self.stage.db
        self._rows(
            "event",
            "SELECT CAST(ocel_id AS TEXT), CAST(ocel_type AS TEXT) FROM log.event",
            "INSERT INTO main.events (id, type)",
        )
        db.execute("UPDATE events SET row = row - 1")
        self._rows(
            "object",
            "SELECT CAST(ocel_id AS TEXT), CAST(ocel_type AS TEXT) FROM log.object",
            "INSERT INTO main.objects",
        )
        db.execute("CREATE INDEX early ON events (id)")
        self._rows(
            "event_object",
            "SELECT coalesce((SELECT row FROM main.events WHERE id = CAST(ocel_event_id AS TEXT)),"
            " -1), CAST(ocel_object_id AS TEXT), CAST(ocel_qualifier AS TEXT)"
            " FROM log.event_object",
            "INSERT INTO main.links",
        )
        self._no_strays("event_object", "SELECT count(*) FROM links WHERE row < 0")
        if "object_object" in self.tables:
            self._rows(
                "object_object",
                "SELECT CAST(ocel_source_id AS TEXT), CAST(ocel_target_id AS TEXT), "
                "CAST(ocel_qualifier AS TEXT) FROM log.object_object",
                "INSERT INTO main.object_links",
            )
        for type, table in self._types("event"):
            self._event_type(type, table)
        for type, table in self._types("object"):
            self._object_type(type, table)
        db.execute("DROP INDEX early")

    def _rows(self, table: str, query: str, insert: str, *given: object) -> None:
        """Copy in the order of the table's rows."""
        order = "" if self._without_rowid(table) else " ORDER BY rowid"
        done = self.stage.db.execute(f"{insert} {query}{order} LIMIT {self.most + 1}", given)
        if done.rowcount > self.most:
            if self.most == self.stage.limits.events:
                raise self.stage.limits.exceeded("events", self.stage.name)
            msg = (
                f"{self.stage.name}: expected a whole SQLite database; got a table {table!r} "
                "without end; try fetching it again"
            )
            raise LogError(msg)

    def _without_rowid(self, table: str) -> bool:
        try:
            self.stage.db.execute(f"SELECT rowid FROM log.{_quoted(table)} LIMIT 0")
        except sqlite3.OperationalError:
            return True
        return False

    def _types(self, what: str) -> list[tuple[str, str]]:
        """The types and their tables."""
        stage, found = self.stage, []
        query = f"SELECT ocel_type, ocel_type_map FROM log.{what}_map_type LIMIT 100000"
        for type, mapped in stage.db.execute(query).fetchall():
            table = f"{what}_{mapped}"
            missing = {"ocel_id", "ocel_time"} - {name for name, _ in self.tables.get(table, [])}
            if missing:
                got = f"no column {min(missing)}" if table in self.tables else "no such table"
                msg = (
                    f"{stage.name}: expected the table {table!r} of the {what} type {type!r}; "
                    f"got {got}; try another export"
                )
                raise LogError(msg)
            found.append((str(type), table))
        known = stage.event_types if what == "event" else stage.object_types
        known += [type for type, _ in found]
        for (type,) in stage.db.execute(f"SELECT DISTINCT type FROM main.{what}s").fetchall():
            if type not in known:
                msg = (
                    f"{stage.name}: expected every type in the table {what}_map_type; "
                    f"got {type!r}, which is not there; try another export"
                )
                raise LogError(msg)
        return found

    def _event_type(self, type: str, table: str) -> None:
        db, quoted = self.stage.db, _quoted(table)
        matched = (
            "(SELECT row FROM main.events e WHERE e.id = CAST(ocel_id AS TEXT) AND e.type = ?)"
        )
        db.execute("CREATE TEMP TABLE times (row INTEGER, time TEXT)")
        try:
            query = f"SELECT {matched}, CAST(ocel_time AS TEXT) FROM log.{quoted}"
            self._rows(table, query, "INSERT INTO temp.times", type)
            self._no_strays(table, "SELECT count(*) FROM temp.times WHERE row IS NULL")
            twice = "SELECT count(*) - count(DISTINCT row) FROM temp.times"
            self._no_strays(table, twice, "each event once; got {} more")
            db.execute("CREATE INDEX temp.by_row ON times (row)")
            db.execute(
                "UPDATE main.events SET time = (SELECT time FROM temp.times t "
                "WHERE t.row = main.events.row) WHERE type = ?",
                (type,),
            )
        finally:
            db.execute("DROP TABLE temp.times")
        for column, declared in self._attributes(table):
            if declared in _KINDS:
                self.stage.declared[type, column] = _KINDS[declared]
            own = _quoted(column)
            self._rows(
                table,
                f"SELECT {matched}, ?, {_KIND.format(own)}, {own} FROM log.{quoted} "
                f"WHERE {own} IS NOT NULL",
                "INSERT INTO main.attributes",
                type,
                column,
            )

    def _object_type(self, type: str, table: str) -> None:
        for column, _ in self._attributes(table):
            own = _quoted(column)
            self._rows(
                table,
                f"SELECT CAST(ocel_id AS TEXT), ?, CAST(ocel_time AS TEXT), {_KIND.format(own)}, "
                f"{own} FROM log.{_quoted(table)} WHERE {own} IS NOT NULL",
                "INSERT INTO main.changes",
                column,
            )

    def _attributes(self, table: str) -> list[tuple[str, str]]:
        return [(name, type) for name, type in self.tables[table] if name not in _OWN]

    def _no_strays(self, table: str, query: str, what: str = _STRAYS) -> None:
        (strays,) = self.stage.db.execute(query).fetchone()
        if strays:
            told = what.format(strays)
            msg = f"{self.stage.name}, table {table!r}: expected {told}; try another export"
            raise LogError(msg)
