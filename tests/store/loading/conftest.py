"""A server that tests of loading break, and start again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests._support.own_server import own_server, up
from tests.store.loading._support.broken_server import BROKEN
from whence.store import connect
from whence.store.server import Status


@pytest.fixture(scope="module")
def to_be_broken(jars: Path) -> Iterator[None]:
    """A server of this file alone."""
    with own_server(BROKEN):
        yield


@pytest.fixture
def server(to_be_broken: None) -> Status:
    """The server that is to be broken: it runs, and its graph is empty."""
    status = up(BROKEN)
    with connect(status.settings()) as connection:
        connection.write("MATCH (n) DETACH DELETE n")
    return status
