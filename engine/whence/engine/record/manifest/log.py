"""The manifest of a log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from whence.engine.lineage.positions import Intervals
from whence.engine.record.manifest.stated import Stated

__all__ = ["ColumnInfo", "EventIdentity", "LogManifest", "MadeBy"]


@dataclass(frozen=True, kw_only=True)
class ColumnInfo(Stated):
    """A column of a log: its name and the kind of its values."""

    name: str
    kind: str


@dataclass(frozen=True, kw_only=True)
class EventIdentity(Stated):
    """How the events of a log are identified.

    Attributes:
        by: the column that holds ids; ``None``: by their content.
        secret: the name of the secret that keys their digests.
        repeated: how many differ from an earlier one only by their occurrence.
    """

    by: str | None = None
    secret: str | None = None
    repeated: int = 0

    @property
    def way(self) -> tuple[str | None, str | None]:
        """What two logs must share so that their events can be compared."""
        return self.by, self.secret


@dataclass(frozen=True, kw_only=True)
class MadeBy(Stated):
    """The stream of another run whose events a log has."""

    run: str
    stream: str


@dataclass(frozen=True, kw_only=True)
class LogManifest(Stated):
    """What is known of a log.

    Attributes:
        format: of the manifest.
        id: the log's id.
        name: what it is called.
        source: where it was read from, for people.
        source_format: how it was written there.
        length: how many events.
        plain: whether events are plain values, in one column ``value``.
        columns: the columns, in order.
        order: ``file``, or the columns that it is ordered by.
        missing: where events without a value to order by are.
        case: the column that says to which case an event belongs.
        activity: the column that says what happened.
        time: the column that says when.
        event_id: the column that holds ids.
        timezone: the zone of times that carried none.
        report: what came of reading it.
        details: what the format says of the whole log.
        digest: of its events; ``None`` while it grows.
        events: how its events are identified.
        chunk: positions a part.
        parts: how many parts there are.
        made_by: the stream of another run that it is.
        revision_of: the id of the log that it corrects.
        adjustment: who corrected it, why and when.
        secrets: the file of the secrets of its cases, if it is not the first one.
        erased: the events whose values were erased.
    """

    FORMAT: ClassVar[int] = 2

    format: int = FORMAT
    id: str
    name: str
    source: str = ""
    source_format: str = ""
    length: int
    plain: bool
    columns: tuple[ColumnInfo, ...]
    order: str | tuple[str, ...] = "file"
    missing: str | None = None
    case: str | None = None
    activity: str | None = None
    time: str | None = None
    event_id: str | None = None
    timezone: str | None = None
    report: Mapping[str, Any] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    digest: str | None = None
    events: EventIdentity = field(default_factory=EventIdentity)
    chunk: int
    parts: int
    made_by: MadeBy | None = None
    revision_of: str | None = None
    adjustment: Mapping[str, Any] | None = None
    secrets: str | None = None
    erased: Intervals = ()

    def column_of(self, role: str) -> str | None:
        """The column that is the ``case``, ``activity``, ``time`` or ``id``, if one is."""
        found: str | None = getattr(self, "event_id" if role == "id" else role)
        return found
