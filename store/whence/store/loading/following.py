"""Load a run while it goes on; a store that is away is waited for, and never stops the run."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from whence.engine.errors import StoreError
from whence.engine.progress import Listener
from whence.engine.record import RunRecord
from whence.store.connection import Connection
from whence.store.loading.loader import ENDED, Loader, LoadReport
from whence.store.loading.priority import PRIORITIES, Pace

__all__ = ["AWAY_SECONDS", "POLL_SECONDS", "follow"]

POLL_SECONDS = 0.25
AWAY_SECONDS = 30.0
"""How long a store that does not answer is waited for after the run has ended."""
_LONGEST_PAUSE = 5.0


def follow(
    record: Path,
    run: str,
    connection: Connection,
    progress: Listener | None = None,
    *,
    over: Callable[[], bool] | None = None,
    pace: Pace = PRIORITIES["normal"],
    poll: float = POLL_SECONDS,
    patience: float = AWAY_SECONDS,
) -> LoadReport:
    """Load a run while it goes on, until it has ended, by itself or because it was killed.

    A store that does not answer, or that cannot carry out what it should, is asked again; the run
    itself never waits for it. One that has not answered all the time is not waited for in the end.

    Args:
        record: the record's place.
        run: the run's id.
        connection: where to.
        progress: told how far it has come.
        over: says that the run will write no more; given by whoever runs it, and then an
            interrupted run is waited for, since it will be taken up again.
        pace: how much of the machine loading may take during the run.
        poll: seconds between two looks at the record.
        patience: seconds to wait for a store that is away, once the run has ended.
    """
    loader = Loader(RunRecord(record, run), connection, progress)
    reached = False
    away_until: float | None = None
    pause, written = poll, 0
    while True:
        manifest = loader.manifest()
        status = manifest.status
        ended = status in ENDED or (status == "interrupted" if over is None else over())
        try:
            report = loader.catch_up(pace.beside(followed=manifest.stream is not None, ended=ended))
            if ended:
                return report
            # Whatever was written took its time; by now there may be more.
            reached, away_until, pause = True, None, poll if report.written == written else 0.0
            written = report.written
        except StoreError as error:
            if not is_away(error):
                raise
            now = time.monotonic()
            if ended and away_until is None:
                away_until = now + (patience if reached else 0.0)
            if away_until is not None and now >= away_until:
                raise
            pause = min(max(pause, poll) * 2, _LONGEST_PAUSE)
        _rest(pause, over)


def _rest(seconds: float, over: Callable[[], bool] | None) -> None:
    """Wait, but no longer than the run goes on: what it wrote last is loaded at once."""
    until = time.monotonic() + seconds
    before = over is not None and over()
    while (left := until - time.monotonic()) > 0:
        if over is not None and over() and not before:
            return
        time.sleep(min(left, 0.05))


def is_away(error: StoreError) -> bool:
    """Whether the store may well do later what it did not do now; a refusal stays one."""
    from neo4j.exceptions import AuthError, ClientError, DriverError, Neo4jError

    cause = error.__cause__
    if isinstance(cause, AuthError) or not isinstance(cause, (DriverError, Neo4jError)):
        return False
    # Not only what the driver itself repeats: a full disk, or a database that is being started.
    return cause.is_retryable() or not isinstance(cause, ClientError)
