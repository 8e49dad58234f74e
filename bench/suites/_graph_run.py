"""A run read from Neo4j a chunk at a time, with the face that an export from the record has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pyarrow as pa

from whence.engine.lineage.association import LOG_PREFIX
from whence.engine.record.schema import association_table
from whence.engine.values import kind_of
from whence.engine.values.columns import canonical
from whence.exporters.answers import run_about
from whence.exporters.prov.rows import number_column
from whence.exporters.recorded import RecordedRun
from whence.exporters.values import EventColumns, value_columns
from whence.exporters.vocabulary import term
from whence.store import Connection, connect
from whence.store.catalog import StoredLog, StoredStream, find_run
from whence.store.places import Places, key_of, position_of
from whence.store.questions.fields import derivations
from whence.store.server import Memory, remove, start, stop

__all__ = ["GraphRun", "a_server"]

AT_ONCE = 10_000
EVENTS = """
MATCH (e:Event) WHERE e.key >= $first AND e.key <= $last
RETURN e.key AS key, e.value AS value, e.moment AS moment ORDER BY key
"""


class GraphRun(RecordedRun):
    """Reads events and associations by Bolt instead of from Arrow tables."""

    def __init__(self, connection: Connection, id: str) -> None:
        """Find the run; the record is not opened."""
        self._connection = connection
        self._graph = find_run(connection, id)
        self.run = run_about(self._graph)
        self.values = False
        self._places: dict[str, StoredLog | StoredStream] = {
            **{LOG_PREFIX + log.name: log for log in self._graph.logs},
            **{stream.name: stream for stream in self._graph.streams},
        }

    @property
    def size(self) -> int:
        return sum(place.length for place in self._places.values())

    def events(self, place: str) -> Iterator[tuple[np.ndarray, EventColumns]]:
        """The events of a log or stream, a chunk at a time."""
        known = self._places[place]
        for low in range(0, known.length, AT_ONCE):
            first, last = key_of(known.no, low), key_of(known.no, low + AT_ONCE - 1)
            rows = self._connection.read(EVENTS, first=first, last=last)
            positions = np.array([position_of(row["key"]) for row in rows], np.int64)
            if isinstance(known, StoredLog):
                yield positions, ()
                continue
            kinds = pa.array([kind_of(row["value"]) for row in rows], pa.string())
            values = value_columns(kinds, pa.array([canonical(row["value"]) for row in rows]))
            moments = np.array([row["moment"] for row in rows], np.int64)
            yield positions, (*values, (term("moment"), number_column(moments)))

    def associations(self, place: str) -> Iterator[tuple[int, pa.Table]]:
        """What explains the events of a stream, a chunk at a time."""
        known = self._places[place]
        for low in range(0, known.length, AT_ONCE):
            last = min(low + AT_ONCE, known.length) - 1
            reached: Places = {known.no: ((low, last),)}
            rows = derivations(self._connection, self._graph, reached, support=False)
            yield len(rows), association_table(rows)


@contextmanager
def a_server(name: str = "bench-export", megabytes: int = 1024) -> Iterator[Connection]:
    """A Neo4j of one benchmark alone, removed afterwards.

    Args:
        name: of the server; what a kill left of one with this name is removed before.
        megabytes: that it may take.
    """
    stop(name)
    remove(name)
    status = start(name, port=None, memory=Memory.of(megabytes))
    try:
        with connect(status.settings()) as connection:
            yield connection
    finally:
        stop(name)
        remove(name)
