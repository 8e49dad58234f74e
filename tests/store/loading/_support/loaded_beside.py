"""A run that can be held while it goes on, and is loaded beside it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.engine.examples import lifecycle
from tests.store.loading._support.cutting_proxy import Proxy
from whence.engine import Chain, Slice
from whence.engine.language.log import Log
from whence.engine.progress import Progress
from whence.engine.record import RunRecord, ingest
from whence.engine.runners import RunOptions, run_recorded
from whence.store import Connection, Settings
from whence.store.loading import Loading

__all__ = ["PATIENCE", "RUN_ID", "loaded_beside", "outputs", "slowly", "until"]

RUN_ID = "the-run"
PATIENCE = 120.0
LITTLE = 1_000
"""Bytes that are let through at a time; a part is about as much."""
CHAIN = Chain.of(Slice("per-case", by="case", of=lifecycle(), combine="and"))
ACTIONS = ("create", "approve", "pay", "create")
EVENTS: list[dict[str, object]] = [
    {"case": n % 37, "action": ACTIONS[n * 7 // 37 % 4]} for n in range(400)
]
HALF = 200
"""So many events are done when something happens; then the record has 160 outputs, or some more."""


def until(holds: Callable[[], bool], what: str) -> None:
    """Wait for something that has to come."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def outputs(graph: Connection) -> int:
    """How many outputs can be asked about."""
    return int(graph.read("MATCH (e:Output) RETURN count(e) AS n")[0]["n"])


def slowly(proxy: Proxy, graph: Connection, many: int = 1) -> None:
    """Let a little through at a time until so many outputs are there; more of them are held."""
    while outputs(graph) < many:
        proxy.hold_after(LITTLE)
        until(lambda: proxy.holding, "something to be held back")
    assert proxy.holding


def loaded_beside(
    root: Path,
    settings: Settings,
    half_way: Callable[[], None] = lambda: None,
    *,
    at_end: Callable[[RunRecord], None] = lambda run: None,
    patience: float = 0.5,
    **how: Any,
) -> tuple[RunRecord, Loading]:
    """Run a chain and load it beside; half of the way something happens.

    Args:
        root: the record's place.
        settings: where to.
        half_way: called by the run itself when half of its events are done: it waits.
        at_end: called when the run has ended, and its loading was not told of that yet.
        patience: how long a store that is away is waited for in the end.
        how: what else `Loading` is told.
    """
    log = ingest(root, "log", EVENTS, declared=Log(None, "case", "action"), chunk=40)
    happened = False

    def progress(event: Progress) -> None:
        nonlocal happened
        if event.done >= HALF and not happened:
            happened = True
            half_way()

    loading = Loading(root, RUN_ID, settings, None, patience=patience, **how)
    with loading:
        run = run_recorded(
            root, CHAIN, {"log": log}, RunOptions(chunk=40), run_id=RUN_ID, progress=progress
        )
        at_end(run)
    assert happened
    assert run.manifest.status == "complete"
    return run, loading
