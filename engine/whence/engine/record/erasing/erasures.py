"""What was erased, when, by whom and why: a file for each erasure, without anything of what it was.

The file is there before the first value is removed. It says which events are meant, by position,
and which steps are done, so that an erasure that was killed is taken up where it was.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from whence.engine.errors import ParameterError
from whence.engine.lineage.association import LOG_PREFIX
from whence.engine.lineage.positions import Intervals, union
from whence.engine.record.files import read_json, write_json
from whence.engine.record.remote import RemotePath
from whence.engine.record.runs import now
from whence.engine.record.user import process_user

__all__ = [
    "Erasure",
    "erasures_of",
    "erasures_stamp",
    "list_erasures",
    "new_erasure",
    "read_erasure",
    "told_of",
    "unfinished",
    "write_erasure",
]

_FOLDER = "erasures"


@dataclass(frozen=True)
class Erasure:
    """One erasure.

    Attributes:
        id: its id.
        begun: when it began.
        who: the user of the machine.
        reason: why, in the user's words.
        logs: the events of each log, by the log's id.
        streams: the events of each stream, by run and stream.
        untracked: streams, by run, of which some events went because nobody knows what they are
            made from.
        ended: runs that were not over and cannot go on, as their state went.
        steps: what was done so far.
        done: when it was done; ``None`` while it is under way.
        unreached: what could not be reached, and what to do about it.
        left: what could not be done, and the command that does it.
        changed: runs that were not what had been committed of them when it began; one line each.
    """

    id: str
    begun: str
    who: str
    reason: str
    logs: Mapping[str, Intervals]
    streams: Mapping[str, Mapping[str, Intervals]]
    untracked: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ended: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    done: str | None = None
    unreached: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    changed: Mapping[str, str] = field(default_factory=dict)

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs of which something went."""
        return tuple(dict.fromkeys((*self.streams, *self.ended)))

    def with_step(self, step: str) -> Erasure:
        """The same with one more step done."""
        return replace(self, steps=(*self.steps, step))


def new_erasure(
    reason: str,
    logs: Mapping[str, Intervals],
    streams: Mapping[str, Mapping[str, Intervals]],
    *,
    untracked: Mapping[str, tuple[str, ...]],
    ended: Iterable[str],
) -> Erasure:
    """An erasure that is to be done."""
    id = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"
    return Erasure(
        id, now(), process_user()[0], reason, logs, streams, dict(untracked), tuple(ended)
    )


def write_erasure(root: Path, erasure: Erasure) -> None:
    """Write an erasure down, for good."""
    told: dict[str, Any] = {
        "format": 1,
        **vars(erasure),
        "logs": {id: _pairs(places) for id, places in erasure.logs.items()},
        "streams": {
            run: {name: _pairs(places) for name, places in several.items()}
            for run, several in erasure.streams.items()
        },
    }
    write_json(root / _FOLDER / f"{erasure.id}.json", told)


def read_erasure(root: Path, id: str) -> Erasure:
    """Read an erasure; ``latest`` is the last one.

    Raises:
        ParameterError: there is none of this id.
    """
    known = _ids(root)
    wanted = known[-1] if id == "latest" and known else id
    if wanted not in known:
        latest = ", ".join(known[-5:]) or "whence erase first"
        msg = f"an erasure: expected one of the record {root}; got {id!r}; try {latest}"
        raise ParameterError(msg)
    told = read_json(root / _FOLDER / f"{wanted}.json")
    return Erasure(
        wanted,
        told["begun"],
        told["who"],
        told["reason"],
        {id: _intervals(places) for id, places in told["logs"].items()},
        {
            run: {name: _intervals(places) for name, places in several.items()}
            for run, several in told["streams"].items()
        },
        {run: tuple(names) for run, names in told["untracked"].items()},
        tuple(told["ended"]),
        tuple(told["steps"]),
        told["done"],
        tuple(told["unreached"]),
        tuple(told.get("left", ())),
        told.get("changed", {}),
    )


def list_erasures(root: Path) -> list[Erasure]:
    """Every erasure of a record, the latest last."""
    return [read_erasure(root, id) for id in _ids(root)]


def unfinished(root: Path) -> Erasure | None:
    """An erasure that was begun and is not done."""
    return next((each for each in list_erasures(root) if each.done is None), None)


def erasures_of(root: Path, run: str, logs: Mapping[str, str]) -> list[Erasure]:
    """The erasures that took something of a run, or of a log that it read.

    Args:
        root: the record's place.
        run: the run's id.
        logs: the ids of its logs, by their names.
    """
    ids = set(logs.values())
    return [each for each in list_erasures(root) if run in each.runs or ids & each.logs.keys()]


def erasures_stamp(root: Path) -> Hashable:
    """Changes with every step of every erasure of a record: its file is written anew each time."""
    folder = root / _FOLDER
    if isinstance(folder, RemotePath):
        return tuple((path.name, path.age(0.0)) for path in sorted(folder.glob("*.json"))[-1:])
    try:
        found = folder.stat()
        newest = max(os.scandir(folder), key=lambda file: file.name, default=None)
        return found.st_mtime_ns, None if newest is None else newest.inode()
    except FileNotFoundError:
        return None


def told_of(root: Path, run: str, logs: Mapping[str, str]) -> list[dict[str, Any]]:
    """The same as plain values: id, who, reason, begun, done, and ranges by place.

    A log that a run read under two names is told once.
    """
    names = {id: name for name, id in reversed(list(logs.items()))}
    found = []
    for each in erasures_of(root, run, logs):
        places = {LOG_PREFIX + names[id]: at for id, at in each.logs.items() if id in names}
        places |= each.streams.get(run, {})
        told: dict[str, Any] = {
            name: getattr(each, name) for name in ("id", "who", "reason", "begun", "done")
        }
        told["ranges"] = [[place, lo, hi] for place, at in places.items() for lo, hi in at]
        found.append(told)
    return found


def _ids(root: Path) -> list[str]:
    return sorted(path.stem for path in (root / _FOLDER).glob("*.json"))


def _pairs(places: Intervals) -> list[list[int]]:
    return [[lo, hi] for lo, hi in places]


def _intervals(pairs: Iterable[Iterable[int]]) -> Intervals:
    found: Intervals = ()
    for lo, hi in pairs:
        found = union(found, ((lo, hi),))
    return found
