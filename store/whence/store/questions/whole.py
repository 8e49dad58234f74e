"""Answers that promise something need the whole run."""

from __future__ import annotations

from whence.engine.errors import StoreError
from whence.store.catalog import RunGraph, StoredLog
from whence.store.connection import Connection
from whence.store.cypher import cypher
from whence.store.loading.pieces import without_piece
from whence.store.places import Places, no_of

__all__ = ["all_outputs", "loaded_text", "log_is_whole", "require_tracked", "require_whole"]


def require_tracked(run: RunGraph) -> None:
    """Refuse a run that was not tracked."""
    if not run.options.tracked:
        msg = f"{run.id}: expected a tracked run; got one that was not; try whence run --track"
        raise StoreError(msg)


def loaded_text(connection: Connection, run: RunGraph) -> str:
    """How much of a run is in the graph, for a person."""
    done = []
    for stream in run.outputs:
        rows = connection.read(cypher("chunks_read"), prefix=f"run/{run.id}/{stream.name}/")
        prefix = f"run/{run.id}/{stream.name}/"
        own = [row for row in rows if without_piece(row["id"][len(prefix) :]).isdecimal()]
        events = sum(row["events"] for row in own)
        if stream.sparse:
            events = sum(no_of(key) == stream.no for row in own for key in row["keys"] or ())
        done.append(f"{events:,} of {stream.length:,} outputs of {stream.name}")
    return ", ".join(done)


def require_whole(run: RunGraph, connection: Connection | None = None) -> None:
    """Refuse a run that is not over, not all there, or was not tracked.

    Args:
        run: the run.
        connection: where the graph is, to say how much of the run is there.
    """
    require_tracked(run)
    if run.status != "complete":
        hint = f"whence load {run.id} when it is over"
        if run.status in ("interrupted", "failed"):
            hint = "the same whence run again"
        msg = (
            f"{run.id}: expected a run that is complete, since later outputs may change the "
            f"answer; got one that is {run.status}; try {hint}"
        )
        raise StoreError(msg)
    if not run.loaded:
        part = "a part of it" if connection is None else loaded_text(connection, run)
        msg = (
            f"{run.id}: expected all of the run in the graph; got {part}; try whence load {run.id}"
        )
        raise StoreError(msg)


def log_is_whole(connection: Connection, run: RunGraph, log: StoredLog) -> bool:
    """Whether all events of a log are in the graph; selected outputs do not need all of them."""
    if not run.selected and not log.partly_made:
        return True
    rows = connection.read(cypher("chunks_read"), prefix=f"log/{log.id}/")
    return sum(int(row["events"]) for row in rows) >= log.length


def all_outputs(run: RunGraph) -> Places:
    """Every output of the chain."""
    return {s.no: ((0, s.length - 1),) for s in run.outputs if s.length}
