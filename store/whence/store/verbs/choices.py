"""Choices on the way down: a choice is touched when each of its options is, and not before."""

from __future__ import annotations

from collections.abc import Iterable

from whence.store.catalog import RunGraph
from whence.store.connection import Connection
from whence.store.cypher import cypher
from whence.store.places import Places, key_of, no_of, position_of

__all__ = ["Gate", "options_of"]

PAGES = 4
"""A page is as many chunks of the record as this: what is read at once for one choice of it."""


def options_of(connection: Connection, run: RunGraph, places: Places) -> dict[int, int]:
    """How many options each choice among some places has, by key."""
    chosen = sorted(run.choices & places.keys())
    ranges = [[key_of(no, lo), key_of(no, hi)] for no in chosen for lo, hi in places[no]]
    if not ranges:
        return {}
    rows = connection.read_values(cypher("choices_read"), ranges=ranges)
    return {key: options for key, options in rows}


class Gate:
    """Lets the way down go on through a choice once its last option has been touched."""

    def __init__(self, connection: Connection, run: RunGraph) -> None:
        """Begin with all choices closed."""
        self.connection = connection
        self.run = run
        self.options: dict[int, int] = {}
        self.read: set[tuple[int, int]] = set()
        self.touched: dict[int, set[int]] = {}

    def holds(self, no: int) -> bool:
        """Whether the events of a stream are choices."""
        return no in self.run.choices

    def opens(self, choice: int, options: Iterable[int]) -> bool:
        """Touch options of a choice; say whether all of them are touched by now."""
        touched = self.touched.setdefault(choice, set())
        touched.update(options)
        return len(touched) >= self._options(choice)

    def _options(self, choice: int) -> int:
        no, width = no_of(choice), PAGES * self.run.chunk
        page = position_of(choice) // width
        if (no, page) not in self.read:
            self.read.add((no, page))
            places: Places = {no: ((page * width, (page + 1) * width - 1),)}
            self.options.update(options_of(self.connection, self.run, places))
        return self.options[choice]
