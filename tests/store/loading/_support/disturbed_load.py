"""Load a run in a process of its own, and break something at a named point of the way.

A point is reached for the n-th time, then it is said so in a file, and then something happens: the
process kills itself on the spot, it kills Neo4j, or it writes what it was about to write twice.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whence.store import Secret, Settings
from whence.store.connection import RETRY_SECONDS, Connection, open_driver, run_cypher
from whence.store.loading import child, chunks, load, loader
from whence.store.loading.register import run_state

__all__ = ["POINTS", "Fault", "disturbed_load"]

POINTS = (
    "while the run is registered",
    "between chunks",
    "before the transaction",
    "before the marker",
    "after the marker",
    "between two statements",
    "before the commit",
    "between commit and acknowledgement",
    "before the state is told",
    "after the state was told",
)
"""Where the way of a part into the graph can be broken, in order."""


@dataclass(frozen=True)
class Fault:
    """What happens, where, and the how manieth time.

    Attributes:
        point: one of `POINTS`.
        nth: at which time that it is reached.
        what: ``loader`` kills the loader, ``neo4j`` the server, ``twice`` writes a chunk twice.
        server: the process of the server.
    """

    point: str
    nth: int
    what: str = "loader"
    server: int = 0


_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload([__name__])


def disturbed_load(root: Path, run: str, settings: Settings, fault: Fault, hit: Path) -> int:
    """Load with a fault; give the exit code of the process that loads.

    Args:
        root: the record's place.
        run: the run's id.
        settings: where to.
        fault: what is to happen.
        hit: the file that is there afterwards if it happened.
    """
    given = (str(root), run, settings.uri, settings.password.reveal(), fault, str(hit))
    process = _PROCESSES.Process(target=_load, args=given)
    process.start()
    process.join()
    assert process.exitcode is not None
    return process.exitcode


def _load(root: str, run: str, uri: str, password: str, fault: Fault, hit: str) -> None:
    _Disturbed(fault, Path(hit)).install()
    settings = Settings(uri, "neo4j", Secret.of(password))
    # A server that was killed stays away: it is asked as often as a run's own loader asks.
    retry = child.RETRY_SECONDS if fault.what == "neo4j" else RETRY_SECONDS
    with closing(open_driver(settings, child.CONNECT_SECONDS, retry=retry)) as driver:
        connection = Connection(settings, driver)
        load(Path(root), run, connection, writers=1 if fault.what == "twice" else 2)


class _Disturbed:
    """Counts how often the point is reached."""

    def __init__(self, fault: Fault, hit: Path) -> None:
        self.fault = fault
        self.hit = hit
        self.times = 0

    def reach(self, point: str) -> None:
        if point != self.fault.point:
            return
        self.times += 1
        if self.times == self.fault.nth:
            self.hit.touch()
            if self.fault.what == "neo4j":
                os.kill(self.fault.server, signal.SIGKILL)
            elif self.fault.what == "loader":
                os.kill(os.getpid(), signal.SIGKILL)

    def install(self) -> None:
        """Put the points into the way of the loader; the loader itself knows of none."""
        write_chunk, transact = chunks.write_chunk, Connection.transact

        def chunk(*given: Any) -> bool:
            self.reach("before the transaction")
            written = write_chunk(*given)
            if self.fault.what == "twice":
                self.hit.touch()
                assert not write_chunk(*given)  # the marker is there: nothing is written
            self.reach("between chunks")
            return written

        def cypher(transaction: Any, text: str, parameters: dict[str, Any]) -> Any:
            claims = "fresh" in text
            self.reach("before the marker" if claims else "between two statements")
            result = run_cypher(transaction, text, parameters)
            if claims:
                row = result.single(strict=True)
                self.reach("after the marker")
                return _Read(row)
            return result

        def whole(connection: Connection, work: Callable[[Any], Any]) -> Any:
            def disturbed(transaction: Any) -> Any:
                done = work(transaction)
                if work.__module__ == chunks.__name__:
                    self.reach("before the commit")
                else:
                    self.reach("while the run is registered")
                return done

            done = transact(connection, disturbed)
            if work.__module__ == chunks.__name__:
                self.reach("between commit and acknowledgement")
            return done

        def state(*given: Any, **named: Any) -> None:
            self.reach("before the state is told")
            run_state(*given, **named)
            self.reach("after the state was told")

        setattr(loader, "write_chunk", chunk)  # noqa: B010  put in its place
        setattr(loader, "run_state", state)  # noqa: B010
        setattr(chunks, "run_cypher", cypher)  # noqa: B010
        setattr(Connection, "transact", whole)  # noqa: B010


@dataclass(frozen=True)
class _Read:
    """A row that was read already."""

    row: Any

    def single(self, strict: bool = False) -> Any:
        return self.row
