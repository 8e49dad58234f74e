"""Which version a graph has, and what brings an old one up to date.

A step may be interrupted and done again: it changes what it finds not yet changed, and the version
is raised when all of it is done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from whence.engine.errors import StoreError
from whence.store.connection import Connection
from whence.store.cypher import cypher
from whence.store.migrations.to_2 import add_chunk_ownership
from whence.store.migrations.to_3 import pack_chunks

__all__ = ["VERSION", "bring_up_to_date", "graph_version"]

VERSION = 3
"""What this release writes and reads."""

STEPS: Mapping[int, Callable[[Connection], None]] = {
    1: add_chunk_ownership,
    2: pack_chunks,
}
"""From each older version to the next."""


def graph_version(connection: Connection) -> int | None:
    """The version of a graph; ``None`` of one that is empty."""
    (row,) = connection.read(cypher("version_read"))
    if row["version"] is not None:
        return int(row["version"])
    return 1 if row["chunks"] else None  # the first version did not say so


def bring_up_to_date(connection: Connection) -> None:
    """Bring a graph to this release's version; what is up to date is left alone.

    Raises:
        StoreError: it was written by a newer release.
    """
    version = graph_version(connection)
    if version == VERSION:
        return
    if version is not None and version > VERSION:
        msg = (
            f"the graph: expected version {VERSION} or an older one; got {version}; "
            "try a newer release of whence"
        )
        raise StoreError(msg)
    for step in range(version or VERSION, VERSION):
        STEPS[step](connection)
    connection.write(cypher("version_write"), version=VERSION)
