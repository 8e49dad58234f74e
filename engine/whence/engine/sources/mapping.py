"""Which column is the case, the activity, the time, the event's id: proposed, never forced.

What the user states comes first, then what the format itself says, then customary names. Names are
compared without regard to case and punctuation: ``Case ID``, ``case_id`` and ``CASEID`` are one
name. A proposal is shown with its reason, and the options of a command override it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from whence.engine.errors import LogError
from whence.engine.language.log import ROLES

__all__ = ["CUSTOMARY", "Role", "propose"]

CUSTOMARY: Mapping[str, tuple[str, ...]] = {
    "case": (
        *("case:concept:name", "case id", "case", "case number", "case key", "caseno", "casenr"),
        *("trace id", "trace", "process instance", "process instance id", "instance id"),
    ),
    "activity": (
        *("concept:name", "ocel:activity", "activity", "activity name", "activity id", "task"),
        *("task name", "event", "event name", "event type", "action", "operation", "step"),
    ),
    "time": (
        *("time:timestamp", "ocel:timestamp", "timestamp", "complete timestamp"),
        *("completion time", "complete time", "completed", "event time", "event timestamp"),
        *("datetime", "time", "date", "start timestamp", "start time", "start"),
        *("end timestamp", "end time", "end"),
    ),
    "id": ("identity:id", "ocel:eid", "event id", "event identifier", "event uuid"),
}
"""The customary names of each role, the likeliest first."""

WHY = {"stated": "stated", "format": "given by the format", "name": "matched by name"}


@dataclass(frozen=True)
class Role:
    """A column and why it is thought to have a role.

    Attributes:
        column: its name.
        why: ``stated``, ``format`` or ``name``.
        others: further columns that could be meant, by their names.
    """

    column: str
    why: str
    others: tuple[str, ...] = ()


def propose(
    columns: Iterable[str],
    *,
    stated: Mapping[str, str | None] | None = None,
    known: Mapping[str, str] | None = None,
    where: str = "the log",
) -> dict[str, Role]:
    """Say which column has which role; a role that no column fits is left out.

    Args:
        columns: the names of the log's columns.
        stated: what the user says; an empty text means that no column has the role.
        known: what the format itself knows.
        where: the log's name, for errors.

    Raises:
        LogError: a column is stated that is not there.

    >>> {r: p.column for r, p in propose(["Case ID", "Activity", "Start", "End"]).items()}
    {'case': 'Case ID', 'activity': 'Activity', 'time': 'Start'}
    """
    names = list(columns)
    plain: dict[str, str] = {}
    for name in names:
        plain.setdefault(_plain(name), name)
    found: dict[str, Role] = {}
    for role in ROLES:
        said = (stated or {}).get(role)
        if said is not None:
            if said:
                found[role] = Role(_present(said, role, names, where), "stated")
            continue
        if known and known.get(role) in names:
            found[role] = Role(known[role], "format")
            continue
        fitting = [plain[_plain(name)] for name in CUSTOMARY[role] if _plain(name) in plain]
        if fitting:
            found[role] = Role(fitting[0], "name", tuple(fitting[1:]))
    return found


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold())


def _present(column: str, role: str, columns: list[str], where: str) -> str:
    if column in columns:
        return column
    near = get_close_matches(column, columns, n=1)
    hint = f"{near[0]!r} (did you mean that?)" if near else "one of " + ", ".join(columns)
    msg = (
        f"{where}: expected the column {column!r}, declared as {role}; "
        f"got no such column; try {hint}"
    )
    raise LogError(msg)
