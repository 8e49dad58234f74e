"""A Neo4j of one test file alone: it may be killed, broken or emptied, and is gone in the end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests._support.quick_java import FOR_NEO4J
from whence.store.server import Memory, Status, remove, start, stop

__all__ = ["SMALL", "own_server", "up"]

SMALL = Memory.of(768)


@contextmanager
def own_server(name: str) -> Iterator[None]:
    """What is started under this name starts quickly, and is removed with the block."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", FOR_NEO4J)
        yield
        stop(name)
        remove(name)


def up(name: str, port: int | None = None) -> Status:
    """Where the server is now; killed, it may come back on another port."""
    return start(name, port=port, memory=SMALL)
