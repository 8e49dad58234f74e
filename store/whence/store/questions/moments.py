"""When outputs appeared: positions of a stream by the input event after which they came."""

from __future__ import annotations

from whence.engine.errors import StoreError
from whence.engine.lineage.positions import Intervals, joined
from whence.store.catalog import StoredStream
from whence.store.connection import Connection
from whence.store.cypher import cypher
from whence.store.places import key_of, position_of

__all__ = ["appeared_in", "first_from", "moment_of"]

_AT_ONCE = 64
"""So many places are looked at in one go: three rounds for a quarter of a million outputs."""


def first_from(connection: Connection, stream: StoredStream, moment: int) -> int:
    """The position of the first output that appeared at this moment or later; else the length.

    Outputs appear in the order of their positions, so that few of them need a look.
    """
    if stream.sparse:
        found = _from(connection, stream, 0, moment)
        return stream.length if found is None else found[0]
    low, high = 0, stream.length
    while low < high:
        step = max(1, -(-(high - low) // _AT_ONCE))
        places = list(range(low, high, step))
        moments = _moments(connection, stream, places)
        later = next((at for at in places if moments[at] >= moment), None)
        if later is None:
            low = places[-1] + 1
        else:
            low, high = (low if later == low else later - step + 1), later
    return low


def moment_of(connection: Connection, stream: StoredStream, position: int) -> int | None:
    """The input position after which an output appeared.

    Where only some outputs are there it is that of the next one, ``None`` if there is none.
    """
    if stream.sparse:
        found = _from(connection, stream, position, -1)
        return None if found is None else found[1]
    return _moments(connection, stream, [position])[position]


def _from(
    connection: Connection, stream: StoredStream, position: int, moment: int
) -> tuple[int, int] | None:
    """The first output that is there, from a position and a moment on, and its own moment."""
    ends = {"first": key_of(stream.no, position), "last": key_of(stream.no, stream.length - 1)}
    rows = connection.read(cypher("moment_ends"), **ends, moment=moment)
    return (position_of(rows[0]["key"]), int(rows[0]["moment"])) if rows else None


def _moments(connection: Connection, stream: StoredStream, places: list[int]) -> dict[int, int]:
    keys = [key_of(stream.no, at) for at in places]
    rows = connection.read(cypher("events_read"), keys=keys)
    found = {position_of(row["key"]): int(row["moment"]) for row in rows}
    if len(found) < len(places):
        lost = next(at for at in places if at not in found)
        msg = (
            f"{stream.name}@{lost}: expected an event that is in the graph; got none; "
            "try whence load, not all of the run is there"
        )
        raise StoreError(msg)
    return found


def appeared_in(connection: Connection, stream: StoredStream, moments: Intervals) -> Intervals:
    """The outputs that appeared after one of these input positions."""
    pieces = []
    for lo, hi in moments:
        first = first_from(connection, stream, lo)
        last = first_from(connection, stream, hi + 1) - 1
        if first <= last:
            pieces.append((first, last))
    return joined(pieces)
