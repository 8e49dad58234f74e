"""Which input events are meant: by position, case, activity, time, a filter or their ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from whence.engine.errors import ParameterError
from whence.engine.lineage.positions import Intervals, joined, of_positions, overlap
from whence.engine.values import ValueFault
from whence.engine.values.instants import parse_instant
from whence.store.catalog import RunGraph, StoredLog
from whence.store.connection import Connection
from whence.store.cypher import cypher
from whence.store.places import Places, key_of, places_of_keys
from whence.store.questions.in_record import columns_in_record, matching, with_ids
from whence.store.questions.whole import log_is_whole

__all__ = ["Inputs", "Selection", "select"]

_Ranges = Iterable[tuple[int, int]]
Inputs = Mapping[str, _Ranges] | Mapping[str | None, _Ranges]
"""Ranges of positions by the log's name in the chain; ``None``: the only log."""

EARLIEST = datetime(1, 1, 1, tzinfo=UTC)
LATEST = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
TICK = timedelta(microseconds=1)
DAY = timedelta(days=1) - TICK
LAST_CHARACTER = "\U0010ffff"


@dataclass(frozen=True)
class Selection:
    """Some input events of a run: those that everything given here is true of.

    Attributes:
        positions: ranges of positions by the log's name; ``None``: the only log.
        case: the case that they belong to.
        activity: what was done.
        since: their time is this one or later.
        until: their time is this one or earlier.
        where: formula text over their columns; the record is read for it.
        ids: their ids, in the column that was declared to hold ids; the record is read for it.
        log: the name of the log, if only one is meant.
    """

    positions: Inputs | None = None
    case: str | None = None
    activity: str | None = None
    since: str | None = None
    until: str | None = None
    where: str | None = None
    ids: tuple[str, ...] | None = None
    log: str | None = None

    @property
    def empty(self) -> bool:
        """Whether nothing is said at all."""
        given = (self.case, self.activity, self.since, self.until, self.where, self.ids)
        return self.positions is None and all(each is None for each in given)

    def __str__(self) -> str:
        """What was asked for, as on the command line."""
        words = {
            "--case": self.case,
            "--activity": self.activity,
            "--since": self.since,
            "--until": self.until,
            "--filter": self.where,
            "--log": self.log,
        }
        told = [f"{name} {value!r}" for name, value in words.items() if value is not None]
        if self.positions is not None:
            told.append("--inputs")
        if self.ids is not None:
            told.append(f"--ids ({len(self.ids):,})")
        return " ".join(told) or "nothing"


def select(
    connection: Connection, run: RunGraph, chosen: Selection, record: Path | None = None
) -> Places:
    """Find the input events that a selection means.

    Args:
        connection: where the graph is.
        run: the run.
        chosen: what is meant.
        record: where the record is, for filters and ids.

    Raises:
        ParameterError: nothing is selected, or something is asked for that the log does not have.
    """
    if chosen.empty:
        msg = "input events: expected some; got no choice; try --inputs 3,17-20 or --case ID"
        raise ParameterError(msg)
    logs = list(run.logs) if chosen.log is None else [run.log_named(chosen.log)]
    found: Places = {}
    for log in _with_columns(logs, chosen):
        ranges = _of_log(connection, run, log, chosen, record)
        if ranges:
            found[log.no] = ranges
    if not found:
        known = ", ".join(f"{log.name} of {log.length:,}" for log in logs)
        msg = (
            f"input events: expected some of {known} events; got none by {chosen}; "
            "try whence search, which finds events by case, activity and time"
        )
        raise ParameterError(msg)
    return found


def _with_columns(logs: list[StoredLog], chosen: Selection) -> list[StoredLog]:
    """The logs that have what is asked for; one of several may be without."""
    wanted = {
        "case": chosen.case is not None,
        "activity": chosen.activity is not None,
        "time": chosen.since is not None or chosen.until is not None,
    }
    for role in [role for role, asked in wanted.items() if asked]:
        having = [log for log in logs if role in log.mapped]
        if not having:
            names = ", ".join(log.name for log in logs)
            msg = (
                f"input events by {role}: expected a log whose {role} is mapped; got {names} "
                f"without; try whence run --{role} COLUMN"
            )
            raise ParameterError(msg)
        logs = having
    return logs


def _of_log(
    connection: Connection, run: RunGraph, log: StoredLog, chosen: Selection, record: Path | None
) -> Intervals:
    found: Intervals = ((0, log.length - 1),) if log.length else ()
    if chosen.positions is not None:
        found = overlap(found, _positions(run, log, chosen.positions))
    bounds = {"first": key_of(log.no, 0), "last": key_of(log.no, max(log.length - 1, 0))}

    def read(name: str, **given: Any) -> Intervals:
        rows = connection.read_values(cypher(name), **bounds, **given)
        return places_of_keys(key for _, keys in rows for key in keys).get(log.no, ())

    by_column = (chosen.case, chosen.activity, chosen.since, chosen.until)
    if any(each is not None for each in by_column) and not log_is_whole(connection, run, log):
        found = of_positions(_in_record(run, log, found, chosen, record))
        chosen = replace(chosen, case=None, activity=None, since=None, until=None)
    if chosen.case is not None:
        found = overlap(found, read("inputs_of_case", values=readings(chosen.case)))
    if chosen.activity is not None:
        found = overlap(found, read("inputs_of_activity", values=readings(chosen.activity)))
    if chosen.since is not None or chosen.until is not None:
        timed = read("inputs_of_time", **_bounds(chosen))
        if not timed:  # where times were not read as times, they are compared as texts
            timed = read("inputs_of_time", **_text_bounds(chosen))
        found = overlap(found, timed)
    if found and chosen.where is not None:
        found = matching(run, log, found, chosen.where, record)
    if found and chosen.ids is not None:
        found = overlap(found, with_ids(run, log, chosen.ids, record))
    return found


def _in_record(
    run: RunGraph, log: StoredLog, among: Intervals, chosen: Selection, record: Path | None
) -> Iterator[int]:
    """The same by the record, where not all events of the log are in the graph."""
    for at, row in columns_in_record(run, log, among, record):
        if chosen.case is not None and not _reads(row.get("case"), chosen.case):
            continue
        if chosen.activity is not None and not _reads(row.get("activity"), chosen.activity):
            continue
        timeless = chosen.since is None and chosen.until is None
        if timeless or _in_time(row.get("time"), chosen):
            yield at


def _reads(value: Any, text: str) -> bool:
    """Whether a value is what a word may mean; a boolean is never a number."""
    return any(
        value == each and isinstance(value, bool) == isinstance(each, bool)
        for each in readings(text)
    )


def _in_time(time: Any, chosen: Selection) -> bool:
    if isinstance(time, str):
        texts = _text_bounds(chosen)
        return texts["after"] < time < texts["before"]
    if not isinstance(time, datetime):
        return False
    bounds = _bounds(chosen)
    aware = time if time.tzinfo is not None else time.replace(tzinfo=UTC)
    return bounds["after"] < aware < bounds["before"]


def _positions(run: RunGraph, log: StoredLog, positions: Inputs) -> Intervals:
    found: Intervals = ()
    for name, ranges in positions.items():
        if run.log_named(name).no != log.no:
            continue
        found = joined((*found, *ranges))
        outside = [at for at in (found[0][0], found[-1][1]) if not 0 <= at < log.length]
        if outside:
            last = f"0 to {log.length - 1}" if log.length else "none"
            msg = (
                f"inputs: expected positions of {log.name}, {last}; got {outside[0]}; "
                "try one of these"
            )
            raise ParameterError(msg)
    return found


def readings(text: str) -> list[Any]:
    """What a word of the command line may be in a column: text, number, boolean.

    >>> readings("88"), readings("true"), readings("x1")
    (['88', 88], ['true', True], ['x1'])
    """
    if text in ("true", "false"):
        return [text, text == "true"]
    for read in (int, float):
        try:
            return [text, read(text)]
        except ValueError:
            continue
    return [text]


def _bounds(chosen: Selection) -> dict[str, datetime]:
    """The instants just outside what is asked for."""
    since = (
        EARLIEST if chosen.since is None else max(_instant(chosen.since), EARLIEST + TICK) - TICK
    )
    until = LATEST
    if chosen.until is not None:
        until = min(_instant(chosen.until, last=True), LATEST - TICK) + TICK
    return {"after": since, "before": until}


def _text_bounds(chosen: Selection) -> dict[str, str]:
    """The same as texts; a day has all that begins with it."""
    since = chosen.since or ""
    below = since and f"{since[:-1]}{chr(ord(since[-1]) - 1)}{LAST_CHARACTER}"
    return {"after": below, "before": (chosen.until or "") + LAST_CHARACTER}


def _instant(text: str, *, last: bool = False) -> datetime:
    """An instant; of a day, its first or its last."""
    try:
        found = parse_instant(text)
        return found + DAY if last and len(text) == len("2026-03-01") else found
    except (ValueFault, ValueError) as error:
        msg = f"a time: expected an instant; got {text!r}; try 2026-03-01 or 2026-03-01T12:00:00Z"
        raise ParameterError(msg) from error
