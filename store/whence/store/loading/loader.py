"""Load a run: every part of its record that is there and not yet in the graph."""

from __future__ import annotations

import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whence.engine.errors import LogError, StoreError
from whence.engine.lineage.association import LOG_PREFIX
from whence.engine.progress import Listener, Reporter
from whence.engine.record import RunRecord, forget_loading
from whence.engine.record.manifest import RunManifest
from whence.store.catalog import find_run, run_is_loaded
from whence.store.connection import Connection
from whence.store.loading.chunks import is_conflict, loaded_chunks, write_chunk
from whence.store.loading.collecting import collecting_less
from whence.store.loading.content import ChunkContent
from whence.store.loading.contributions import Counting, keep_contributions, lacks_contributions
from whence.store.loading.parts import ENDED, Part, RecordParts, logs_of
from whence.store.loading.pieces import with_ids
from whence.store.loading.priority import PRIORITIES, Pace
from whence.store.loading.register import prepare_schema, register, run_state
from whence.store.loading.selected_parts import SelectedParts

__all__ = ["ENDED", "LoadReport", "Loader", "load"]


WRITERS = PRIORITIES["high"].writers
CONFLICTS = 3
TOGETHER = 5.0
"""Seconds for which what a run adds is taken up at once, before the graph is told how it stands."""
LOOK, SHARE = 0.1, 10.0
"""A writer that has nothing to do looks at the record again after so many seconds, or so many times
what the last look took: the longer a run is, the more there is to read."""


@dataclass(frozen=True)
class LoadReport:
    """What loading did.

    Attributes:
        run: the run's id.
        status: how the run stands: running, complete, failed or interrupted.
        parts: how many parts its record has by now.
        written: how many of them this call wrote; the others were there.
        events: how many event nodes this call wrote.
        edges: how many relationships this call wrote.
        complete: whether the run is over and all of it is in the graph.
    """

    run: str
    status: str
    parts: int
    written: int
    events: int
    edges: int
    complete: bool


def load(
    record: Path,
    run: str,
    connection: Connection,
    progress: Listener | None = None,
    *,
    writers: int = WRITERS,
) -> LoadReport:
    """Bring the graph up to date with a run's record; what is there already is left alone.

    Args:
        record: the record's place.
        run: the run's id, or ``latest``.
        connection: where to.
        progress: told how far it has come.
        writers: how many transactions are written at a time.
    """
    pace = Pace(writers, 1.0, 0)
    found = RunRecord(record, run)
    report = Loader(found, connection, progress).catch_up(pace)
    if report.complete:
        forget_loading(found.folder)
    return report


class Loader:
    """Brings the graph up to date with a run's record, as often as it is asked to.

    Several parts are written at a time, each in a transaction of its own, and no more of them are
    in memory. A part has its turn when all that it leads to is there.

    Attributes:
        record: the run's record.
        manifest: gives the run's manifest as it is whenever it is called.
    """

    def __init__(
        self, record: RunRecord, connection: Connection, progress: Listener | None = None
    ) -> None:
        """Nothing is known of the graph yet.

        Args:
            record: the run's record.
            connection: where to.
            progress: told how far it has come.
        """
        self.record = record
        self.manifest = record.following()
        self._connection = connection
        self._report = Reporter(progress, "loading", "parts")
        self._doing = f"loading {record.id}"
        self._written = self._events = self._edges = 0
        self._adding = threading.Lock()
        self._counting: Counting | None = None
        self._registered: object = None
        self._told: dict[str, Any] | None = None
        self._there: set[str] = set()
        self._needs: dict[str, set[str]] = {}
        self._selection = SelectedParts()
        self._parts_now: RecordParts | None = None
        self._count = 0
        self._waiting: list[Part] = []
        self._look_at = 0.0

    def catch_up(self, pace: Pace) -> LoadReport:
        """Load what there is by now.

        Raises:
            StoreError: the store is away or refuses; what was written stays, and the next call
                asks the graph what is there.
        """
        for left in reversed(range(CONFLICTS)):
            try:
                with collecting_less():
                    return self._catch_up(pace)
            except StoreError as error:
                # Another loader of the same run was faster with something; now it is known.
                if not left or not is_conflict(error):
                    raise
        raise AssertionError

    def _catch_up(self, pace: Pace) -> LoadReport:
        manifest = self.manifest()
        # While the run goes on there will be more: then a share is one of what there is by now.
        so_far = "" if manifest.status in ENDED else ", of what is written so far"
        self._doing = f"loading {self.record.id}{so_far}"
        try:
            parts = self._parts(manifest, pace)
            every = self._count
            ended = manifest.status in ENDED
            if ended and self._counting is None:
                lacking = lacks_contributions(self._connection, self.record)
                self._counting = Counting(self.record) if lacking else None
            write = self._write_selected if parts.selected else self._write_all
            left = write(parts, pace)
            complete = ended and not left
            if complete and self._counting is not None:
                totals = self._counting.totals(self._tell_counted)
                self._report(0, 0, f"storing what the inputs of {self.record.id} explain")
                keep_contributions(self._connection, self.record, totals)
                self._counting = None
            self._tell_state(manifest, complete)
        except BaseException:
            self._registered = self._told = None  # what was on its way may be there or not
            raise
        if left and manifest.status in ENDED:
            self._refuse(parts, left[0])
        return LoadReport(
            self.record.id,
            manifest.status,
            every,
            self._written,
            self._events,
            self._edges,
            complete,
        )

    def _tell_counted(self, done: int, total: int) -> None:
        counted = f", {done:,} of {total:,} parts read" if total else ""
        self._report(0, 0, f"counting what the inputs of {self.record.id} explain{counted}")

    def _parts(self, manifest: RunManifest, pace: Pace) -> RecordParts:
        """The parts of the record, where they belong in the graph, and which of them are there."""
        names = [stream.name for stream in manifest.streams]
        if self._registered is None:
            prepare_schema(self._connection)
            self._load_makers(manifest, pace)
        if self._registered != names:
            register(self._connection, self.record, manifest)
            run = find_run(self._connection, self.record.id)
            self._selected = run.selected
            self._partly = {
                LOG_PREFIX + n for log in run.logs if log.partly_made for n in log.names
            }
            self._selection = SelectedParts()
            self._numbers = {LOG_PREFIX + name: log.no for log in run.logs for name in log.names}
            self._numbers.update({stream.name: stream.no for stream in run.streams})
            self._there = loaded_chunks(self._connection, "run", self.record.id)
            for log in set(manifest.logs.values()):
                self._there |= loaded_chunks(self._connection, "log", log)
            self._registered = names
            self._parts_now = None
        return self._listed(manifest)

    def _listed(self, manifest: RunManifest) -> RecordParts:
        """The parts that the record has by now; of a running one only new parts are listed."""
        known = self._parts_now
        new = None if known is None or known.selected else known.grow(manifest)
        if known is not None and new is not None:
            self._count += len(new)
            more = self._missing(known, new)
            if more:
                self._waiting = sorted([*self._waiting, *more], key=lambda part: part.first)
            return known
        parts = RecordParts(
            self.record,
            manifest,
            self._numbers,
            selected=self._selected,
            partly=self._partly,
        )
        every = list(parts)
        self._parts_now, self._count = parts, len(every)
        self._waiting = self._missing(parts, every)
        return parts

    def _load_makers(self, manifest: RunManifest, pace: Pace) -> None:
        """First the runs whose streams this one read: their events are its inputs."""
        for name in manifest.logs:
            made_by = self.record.log(name).made_by
            if made_by is None or run_is_loaded(self._connection, made_by[0]):
                continue
            try:
                maker = RunRecord(self.record.root, made_by[0])
            except LogError as gone:
                msg = (
                    f"run {self.record.id}: expected run {made_by[0]}, whose stream {made_by[1]} "
                    "it read, in the graph or in the record; got it in neither; "
                    "try the record that it was written to"
                )
                raise StoreError(msg) from gone
            Loader(maker, self._connection, self._report.listener).catch_up(pace)

    def _write_all(self, parts: RecordParts, pace: Pace) -> list[Part]:
        """Write whatever can be written; what is left leads to something that is not there.

        A run that goes on may have written more before all of this is there: a writer that has
        nothing to do takes it up at once.
        """
        until = time.monotonic() + TOGETHER
        self._report(self._count - len(self._waiting), self._count, self._doing)
        running: dict[Future[None], str] = {}
        # Before the first fault is told, those under way are waited for: nobody writes behind us.
        with ThreadPoolExecutor(pace.writers, "whence-loading") as pool:
            while self._waiting or running:
                for part in self._waiting if len(running) < pace.writers else ():
                    id = parts.id(part)
                    if id in running.values() or not self._ready(parts, part):
                        continue
                    if id not in self._there:  # else it is of another name of the same log
                        running[pool.submit(self._write, parts, part, pace)] = id
                    if len(running) >= pace.writers:
                        break
                goes_on = parts.manifest.status not in ENDED and time.monotonic() < until
                idle = goes_on and len(running) < pace.writers
                if idle and (more := self._more(parts, pace)) is not None:
                    parts = more
                    continue
                if not running:
                    break
                left = self._look_at - time.monotonic() if idle else None
                for future in wait(running, left, FIRST_COMPLETED).done:
                    id = running.pop(future)
                    future.result()
                    self._there.add(id)
                    self._needs.pop(id, None)
                self._waiting = self._missing(parts, self._waiting)
                self._report(self._count - len(self._waiting), self._count, self._doing)
        return self._waiting

    def _missing(self, parts: RecordParts, some: list[Part]) -> list[Part]:
        return [part for part in some if parts.id(part) not in self._there]

    def _more(self, parts: RecordParts, pace: Pace) -> RecordParts | None:
        """What the record holds by now, if that is more of the same streams."""
        began = time.monotonic()
        if began < self._look_at:
            return None
        manifest = self.manifest()
        names = [stream.name for stream in manifest.streams]
        same = manifest == parts.manifest or names != self._registered
        found = None if same else self._parts(manifest, pace)
        took = time.monotonic() - began
        self._look_at = began + took + max(LOOK, SHARE * took)
        return found

    def _write_selected(self, parts: RecordParts, pace: Pace) -> list[Part]:
        """Write what was selected, with all that it needs; one part after the other.

        A part may lead to what an earlier one brought, so that their order counts; the next one is
        made ready while the last one is written.
        """
        doing, every = self._doing, list(parts)
        running: Future[None] | None = None
        with ThreadPoolExecutor(1, "whence-loading") as pool:
            for id, content in self._selection.contents(parts, every, self._there):
                if running is not None:
                    running.result()
                running = pool.submit(self._write_content, id, content, pace)
                self._there.add(id)
                self._report(self._done(parts, every) - 1, len(every), doing)
            if running is not None:
                running.result()
        self._selection.tell_heads(self._connection, parts)
        self._report(self._done(parts, every), len(every), doing)
        return self._missing(parts, every)

    def _done(self, parts: RecordParts, every: list[Part]) -> int:
        return len(every) - len(self._missing(parts, every))

    def _ready(self, parts: RecordParts, part: Part) -> bool:
        """Whether all that a part leads to is there."""
        id = parts.id(part)
        if id not in self._needs:
            self._needs[id] = parts.needs(part)
        self._needs[id] -= self._there
        return not self._needs[id]

    def _write(self, parts: RecordParts, part: Part, pace: Pace) -> None:
        self._write_content(parts.id(part), parts.content(part), pace)

    def _write_content(self, id: str, content: ChunkContent, pace: Pace) -> None:
        started = time.monotonic()
        for piece, some in with_ids(id, content):
            if write_chunk(self._connection, piece, some):
                events, edges = len(some.keys), some.edges
                with self._adding:
                    self._written += piece == id
                    self._events += events
                    self._edges += edges
        pace.rest(time.monotonic() - started)

    def _tell_state(self, manifest: RunManifest, complete: bool) -> None:
        """Say in the graph how the run stands, if it stands otherwise than before."""
        state = {"manifest": manifest, "loaded": complete}
        if self._told != state:
            logs = [log.manifest for log in logs_of(self.record, manifest).values()]
            run_state(self._connection, manifest, logs, loaded=complete)
            self._told = state

    def _refuse(self, parts: RecordParts, part: Part) -> None:
        lacking = sorted(self._needs.get(parts.id(part), set()) - self._there)
        msg = (
            f"the record of {self.record.id}: expected the parts that {parts.id(part)} refers to; "
            f"got none of {', '.join(lacking[:3])}; try running the chain again"
        )
        raise StoreError(msg)
