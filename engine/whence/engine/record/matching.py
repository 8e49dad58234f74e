"""Two versions of a log: which events both have, although rows were inserted or removed."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from whence.engine.errors import LogError
from whence.engine.record.event_ids import FILE
from whence.engine.record.files import read_table
from whence.engine.record.logs import LogRecord
from whence.engine.values.arrow_compute import pc

__all__ = ["Matched", "match"]


@dataclass(frozen=True)
class Matched:
    """Two versions of a log, event by event.

    Attributes:
        both: positions ``old`` and ``new`` of the events that both have, in order of ``new``.
        removed: positions of events that only the old one has.
        added: positions of events that only the new one has.
    """

    both: pa.Table
    removed: list[int]
    added: list[int]


def match(old: LogRecord, new: LogRecord) -> Matched:
    """Find the events of one version of a log in another.

    Raises:
        LogError: their digests cannot be compared: other records, other columns of ids.
    """
    if old.manifest.events.way != new.manifest.events.way:
        msg = (
            f"the logs {old.id} and {new.id}: expected events matched in the same way, with "
            "the same record's secret; got two ways; try reading both the same way into one record"
        )
        raise LogError(msg)
    keys = ["high", "low", "occurrence"]
    left = read_table(old.folder / FILE).rename_columns([*keys, "old"])
    right = read_table(new.folder / FILE).rename_columns([*keys, "new"])
    joined = left.join(right, keys, join_type="full outer").select(["old", "new"])
    both = joined.filter(pc.and_(pc.is_valid(joined["old"]), pc.is_valid(joined["new"])))
    removed = joined.filter(pc.is_null(joined["new"]))["old"]
    added = joined.filter(pc.is_null(joined["old"]))["new"]
    return Matched(both.sort_by("new"), sorted(removed.to_pylist()), sorted(added.to_pylist()))
