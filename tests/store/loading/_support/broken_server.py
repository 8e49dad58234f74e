"""A server whose disk is full, or that is killed, while runs are loaded into it."""

from __future__ import annotations

import os
import resource
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from tests._support.own_server import up
from tests.store.loading._support.loaded_beside import RUN_ID
from tests.store.loading._support.whole_graph import whole_graph
from whence.engine.errors import StoreError
from whence.store import Connection, connect
from whence.store.care import check
from whence.store.loading import load
from whence.store.server import Status

__all__ = ["BROKEN", "POINTS", "again", "assert_undisturbed", "fill_disk"]

BROKEN = "broken"
"""Its name."""
POINTS = (
    "after the marker",
    "between two statements",
    "before the commit",
    "between commit and acknowledgement",
    "between chunks",
)


def fill_disk(server: Status) -> None:
    """From now on the server can write to no file beyond its first byte, as on a full disk."""
    assert server.pid is not None
    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
    # A loader may have met the full disk before: then not even a connection is made any more.
    with pytest.raises(StoreError), connect(server.settings()) as connection:
        connection.write("CREATE (:Bystander)")


def again(server: Status) -> Status:
    """Kill the server and start it on the same port; the disk has room again."""
    assert server.pid is not None
    with suppress(ProcessLookupError):
        os.kill(server.pid, signal.SIGKILL)
    return up(BROKEN, server.port)


def assert_undisturbed(connection: Connection, root: Path, run: str = RUN_ID) -> None:
    """The graph is that of a load that nobody disturbed, and a check finds nothing."""
    found = whole_graph(connection)
    assert check(connection, root).findings == ()
    connection.write("MATCH (n) DETACH DELETE n")
    assert load(root, run, connection, writers=1).complete
    assert found == whole_graph(connection)
