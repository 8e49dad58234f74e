"""What views query: the graph with a time limit, the record, and a cache of answers."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar, cast

from whence.engine.errors import LogError
from whence.engine.record import RunRecord
from whence.engine.record.erasing import erasures_stamp
from whence.engine.record.folders import LATEST
from whence.engine.record.remote import RemotePath
from whence.engine.values.printable import printable
from whence.store import Connection, Settings
from whence.store.catalog import NotInGraphError, RunGraph, find_run
from whence.store.connection import open_driver

__all__ = ["Asker", "Gone"]

T = TypeVar("T")

CONNECT_SECONDS = 4.0
ANSWER_SECONDS = 25.0
"""All reads of one answer together."""
KEPT = 24
"""Number of answers in the cache, for going back and forth between views."""

REMOTE_SECONDS = 5.0
"""At a URI, erasures are looked for at most so often."""


class Gone(LookupError):
    """The target of a link does not exist, or no longer."""


class Asker:
    """The graph and the record behind the page; used by many threads at once."""

    def __init__(
        self, settings: Callable[[], Settings], record: Path, allow: tuple[str, ...] = ()
    ) -> None:
        """Remember where to ask; nothing is opened yet.

        Args:
            settings: returns where the graph is; called again after it did not respond, since a
                local server may come back at another port.
            record: the record's place.
            allow: modules whose functions chains may call when they are run again.
        """
        self.record = record
        self.allow = allow
        self._settings = settings
        self._chosen: Settings | None = None
        self._connection: Connection | None = None
        self._lock = threading.Lock()
        self._answers: OrderedDict[Hashable, object] = OrderedDict()
        self._working: dict[Hashable, threading.Lock] = {}
        self._erased: Hashable = None
        self._looked = -REMOTE_SECONDS
        self.forget_erased()

    @property
    def settings(self) -> Settings:
        """Where the graph is, as far as is known."""
        with self._lock:
            return self._where()

    def _where(self) -> Settings:
        if self._chosen is None:
            self._chosen = self._settings()
        return self._chosen

    def turn_to(self, settings: Settings) -> None:
        """Ask the graph there from now on."""
        with self._lock:
            if self._chosen == settings:
                return
        self.lost()
        with self._lock:
            self._chosen = settings

    def graph(self, seconds: float = ANSWER_SECONDS) -> Connection:
        """The graph, for one answer."""
        with self._lock:
            if self._connection is None:
                chosen = self._where()
                driver = open_driver(chosen, CONNECT_SECONDS, retry=1.0)
                self._connection = Connection(chosen, driver)
            return self._connection.within(seconds)

    def lost(self) -> None:
        """The graph did not answer: the next question finds out anew where it is."""
        with self._lock:
            connection, self._connection = self._connection, None
            self._chosen = None
        if connection is not None:
            with suppress(Exception):
                connection.driver.close()

    def close(self) -> None:
        self.lost()

    def run(self, id: str) -> RunGraph:
        """A run of the graph.

        Raises:
            Gone: it is not there.
        """
        connection = self.graph()
        try:
            return find_run(connection, id, self.record)
        except NotInGraphError as error:
            raise Gone(str(error) if id == LATEST else _no_run(id)) from error

    def recorded(self, id: str) -> RunRecord | None:
        """A run of the record; ``None`` if the record does not have it."""
        try:
            return RunRecord(self.record, id)
        except (LogError, OSError):
            return None

    def kept(self, run: RunGraph, what: Hashable, work: Callable[[], T]) -> T:
        """An answer about a run: computed once, then cached until others evict it.

        A run that was removed and loaded again has other numbers, so an old answer is never given
        of it; and one that still grows is queried anew. Whatever was cached before an erasure,
        or worked out during one, is dropped.
        """
        if run.status != "complete" or not run.loaded:
            return work()
        key = (run.id, tuple(run.by_no), self.forget_erased(), what)
        with self._lock:
            if key in self._answers:
                return cast("T", self._again(key))
            own = self._working.setdefault(key, threading.Lock())
        with own:
            with self._lock:
                if key in self._answers:  # another request answered it meanwhile
                    return cast("T", self._again(key))
            try:
                found = work()
            finally:
                with self._lock:
                    self._working.pop(key, None)
            with self._lock:
                self._answers[key] = found
                while len(self._answers) > KEPT:
                    self._answers.popitem(last=False)
            return found

    def forget_erased(self) -> Hashable:
        """Drop every answer if something was erased since, and say which erasure was the last."""
        now = self._erasures()
        with self._lock:
            if now != self._erased:
                self._erased = now
                self._answers.clear()
        return now

    def _erasures(self) -> Hashable:
        """Changes with each step of each erasure: its file is then written anew."""
        if isinstance(self.record, RemotePath) and time.monotonic() - self._looked < REMOTE_SECONDS:
            return self._erased
        self._looked = time.monotonic()
        try:
            return erasures_stamp(self.record)
        except (OSError, LogError):
            return None

    def _again(self, key: Hashable) -> object:
        self._answers.move_to_end(key)
        return self._answers[key]


def _no_run(id: str) -> str:
    shown = printable(id[:60])  # it stands in the link
    return (
        f"The run {shown} is not in the graph. It may have been removed, or not been loaded "
        f"yet: whence load {shown}"
    )
