"""``whence runs remove`` and ``prune``: out of the record and out of the graph."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from whence.cli.connecting import Server, connected, has_graph
from whence.cli.output import output
from whence.engine.errors import LogError, ParameterError, WhenceError

if TYPE_CHECKING:
    from whence.engine.record import RunRecord
    from whence.store import Connection

__all__ = ["Old", "age", "old_runs", "reachable_graph", "remove_runs"]

UNITS = {"h": "hours", "d": "days", "w": "weeks"}


def age(text: str) -> timedelta:
    """How old: ``90d``, ``12h``, ``6w``.

    >>> age("90d").days
    90
    """
    found = re.fullmatch(r"(\d{1,6})([hdw])", text)
    if found is None:
        msg = f"expected a number and h, d or w; got {text!r}; try 90d"
        raise typer.BadParameter(msg, param_hint="--older-than")
    return timedelta(**{UNITS[found[2]]: int(found[1])})


@contextmanager
def reachable_graph(server: Server, *, wanted: bool) -> Iterator[Connection | None]:
    """The graph, if there is one; a server that is named but away is a reason to refuse."""
    settings = server.settings() if wanted else None
    if not wanted or not has_graph(settings):
        yield None
        return
    with ExitStack() as stack:
        try:
            connection = stack.enter_context(connected(settings))
        except WhenceError as away:
            msg = f"{away}; or --only record, to leave the graph as it is"
            raise type(away)(msg) from away
        yield connection


def remove_runs(
    root: Path, ids: list[str], connection: Connection | None, *, record: bool
) -> list[dict[str, Any]]:
    """Remove runs, the latest first; each is gone whole or refused whole.

    Args:
        root: the record's place.
        ids: the runs.
        connection: the graph; ``None`` to leave it alone.
        record: whether to remove them from the record too.
    """
    from whence.engine.record.removing import remove_run
    from whence.store.care.removing import is_stored, remove_from_graph, sweep

    rows = []
    out = output()
    for id in ids:
        kept = _kept(root, id, record=record)
        stored = connection is not None and is_stored(connection, id)
        if kept is None and not stored:
            msg = (
                f"a run: expected one of the record or the graph; got {id!r}; try whence runs list"
            )
            raise LogError(msg)
        gone: tuple[str, ...] = ()
        if stored and connection is not None:
            gone = remove_from_graph(connection, id).logs
        if kept is not None:
            remove_run(kept)
        row = {"run": id, "removed": True, "record": kept is not None, "graph": stored}
        rows.append({**row, "logs": list(gone)})
    if connection is not None:
        with out.progress() as advance:
            sweep(connection, advance)
    return rows


def _kept(root: Path, id: str, *, record: bool) -> RunRecord | None:
    """What is to be removed of the record; a run that is held stays in the graph as well."""
    from whence.engine.record import RunRecord, list_runs
    from whence.engine.record.erasing import check_not_held
    from whence.engine.record.removing import check_removable

    if id not in list_runs(root):
        return None
    if not record:
        check_not_held(root, [id], "remove")
        return None
    found = RunRecord(root, id)
    check_removable(found)
    return found


@dataclass(frozen=True)
class Old:
    """A run that is old enough to go.

    Attributes:
        run: its id.
        ended: when it ended; when it began, if it never ended.
        days: how many days ago.
        record: whether the record has it.
        graph: whether the graph has it.
        stays: why it has to stay all the same; ``None`` if it goes.
    """

    run: str
    ended: str
    days: float
    record: bool
    graph: bool
    stays: str | None


def old_runs(
    root: Path, connection: Connection | None, limit: timedelta, *, record: bool = True
) -> list[Old]:
    """The runs that ended longer ago than that, in the record or in the graph, the latest first.

    Runs that a newer run needs stay, and so do active runs.

    Args:
        root: the record's place.
        connection: the graph; ``None`` to leave it alone.
        limit: how long ago.
        record: whether they are to go from the record too; else only those in the graph are meant.
    """
    from whence.engine.record import RunRecord, list_runs
    from whence.engine.record.erasing import hold_of
    from whence.engine.record.removing import readers_of
    from whence.store.care.contents import contents

    ended: dict[str, str] = {}
    running = set()
    kept = list_runs(root)
    for id in kept:
        manifest = RunRecord(root, id).manifest
        ended[id] = manifest.ended or manifest.started
        if manifest.is_running:
            running.add(id)
    graph = None if connection is None else contents(connection)
    stored = {} if graph is None else dict(graph.runs)
    for id, run in stored.items():
        ended.setdefault(id, run.ended or run.started)
        if id not in kept and run.status == "running":
            running.add(id)  # no record here knows better
    if not record:
        ended = {id: ended[id] for id in stored}
    now = datetime.now(UTC)
    found: dict[str, Old] = {}
    going: set[str] = set()
    for id in sorted(ended, key=lambda id: (ended[id], id), reverse=True):
        passed = now - _moment(ended[id])
        if passed <= limit:
            continue
        readers = {
            *(readers_of(root, id) if record else ()),
            *(graph.readers(id) if graph is not None else ()),
        }
        needed = sorted(readers - going)
        stays = "it is running" if id in running else None
        if id in kept and hold_of(RunRecord(root, id)) is not None:
            stays = "it has a legal hold"
        if needed:
            stays = f"{', '.join(needed)} read its outputs"
        if stays is None:
            going.add(id)
        days = round(passed / timedelta(days=1), 1)
        found[id] = Old(id, ended[id], days, id in kept, id in stored, stays)
    return list(found.values())


def _moment(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError as fault:
        msg = f"a time: expected one like 2026-03-01T12:00:00Z; got {text!r}; try whence runs show"
        raise ParameterError(msg) from fault
