"""Answers that promise something need the whole run."""

from __future__ import annotations

from whence.engine.errors import StoreError
from whence.store.catalog import RunGraph
from whence.store.places import Places

__all__ = ["all_outputs", "require_whole"]


def require_whole(run: RunGraph) -> None:
    """Refuse a run that is not over, not all there, or was not tracked."""
    if not run.options.get("tracked", True):
        msg = f"{run.id}: expected a tracked run; got one that was not; try whence run --track"
        raise StoreError(msg)
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
        msg = (
            f"{run.id}: expected all of the run in the graph; got a part of it; "
            f"try whence load {run.id}"
        )
        raise StoreError(msg)


def all_outputs(run: RunGraph) -> Places:
    """Every output of the chain."""
    return {s.no: ((0, s.length - 1),) for s in run.outputs if s.length}
