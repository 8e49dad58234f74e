"""Erase events everywhere: record, graph, what was made from them; step by step, once begun.

What is to be done is written down first, without any value. Every step may be done again, so that
an erasure that was killed is taken up where it was, and none is half done in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from whence.engine.errors import LogError, ParameterError, StoreError, WhenceError
from whence.engine.lineage.positions import Intervals, of_positions
from whence.engine.progress import Listener, Reporter
from whence.engine.record import LogRecord, RunRecord, list_runs
from whence.engine.record.erasing import (
    Erasure,
    Touched,
    check_not_held,
    end_without_state,
    erase_in_log,
    erase_in_run,
    mentioning,
    new_erasure,
    own_texts,
    remove_leftovers,
    touched_by,
    unfinished,
    waiting_rows,
    write_erasure,
)
from whence.engine.record.folders import log_folder
from whence.engine.record.manifest import MANIFEST
from whence.engine.record.root import read_commits
from whence.engine.record.runs import now
from whence.engine.record.verifying import require_unchanged
from whence.exporters.evidence.asking import positions_of, same_case
from whence.exporters.evidence.committing import commit_run, committed_of
from whence.exporters.evidence.forgetting import drop_old_secrets, forget_in_log, forget_in_run
from whence.exporters.evidence.unreached import files_written, named_in_runs, unreached
from whence.store import Connection
from whence.store.care import rebuild
from whence.store.erasing import describe_erased, erase_in_graph
from whence.store.journal import forget

__all__ = ["Plan", "erase", "go_on", "plan_case", "plan_events"]


@dataclass(frozen=True)
class Plan:
    """What an erasure would take.

    Attributes:
        root: the record's place.
        touched: the events, and all that follows from them.
        ended: unfinished runs that can no longer be resumed.
    """

    root: Path
    touched: Touched
    ended: tuple[str, ...]

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs that are concerned."""
        return tuple(dict.fromkeys((*self.touched.streams, *self.ended)))


def plan_case(root: Path, case: str, run: str | None = None, *, verdicts: bool = False) -> Plan:
    """Find the events of a case, in every log of the record or in those of one run.

    Args:
        root: the record's place.
        case: the case, as text.
        run: only in the logs of this run.
        verdicts: whether verdicts that rest on others' events as well are to go, too.

    Raises:
        ParameterError: there is no such case.
    """
    _check(root)
    found: dict[str, Intervals] = {}
    for log in _logs(root, run):
        if places := of_positions(positions_of(log, case)):
            found[log.id] = places
    waiting = [each.id for each in _runs(root, run) if _waits(each, case)]
    if not found and not waiting:
        msg = (
            f"--case: expected a case of a log of the record {root}; got one that none has; "
            "try whence logs inspect, and look whether the log declares its case"
        )
        raise ParameterError(msg)
    return _planned(root, found, waiting, verdicts)


def plan_events(
    root: Path, run: str, events: Mapping[str, Intervals], *, verdicts: bool = False
) -> Plan:
    """Find events of the logs of a run, by the log's name.

    Args:
        root: the record's place.
        run: the run.
        events: the events, by the log's name.
        verdicts: whether verdicts that rest on others' events as well are to go, too.

    Raises:
        ParameterError: the run has no such log, or the log no such events.
    """
    _check(root)
    record = RunRecord(root, run)
    names = record.manifest.logs
    found: dict[str, Intervals] = {}
    for name, places in events.items():
        if name not in names:
            msg = f"--events: expected a log of the run; got {name!r}; try {', '.join(names)}"
            raise ParameterError(msg)
        length = record.log(name).length
        if places and places[-1][1] >= length:
            msg = (
                f"--events: expected positions of {name} below {length:,}; "
                f"got {places[-1][1]:,}; try whence explain"
            )
            raise ParameterError(msg)
        found[names[name]] = places
    return _planned(root, found, [], verdicts)


def erase(
    plan: Plan,
    reason: str,
    connection: Connection | None,
    *,
    local: str | None = None,
    progress: Listener | None = None,
) -> Erasure:
    """Erase what was planned.

    Args:
        plan: what is to go.
        reason: why, in words; stored permanently.
        connection: the graph; ``None`` if there is none.
        local: the name of the local server that the graph is on, whose files are made anew;
            ``None`` if it is elsewhere.
        progress: called with the progress so far.

    Raises:
        LogError: a run has a legal hold or is active; then nothing is erased.
    """
    check_not_held(plan.root, plan.runs, "erase")
    for id in plan.runs:
        if RunRecord(plan.root, id).manifest.is_running:
            msg = f"run {id}: expected one that is over; got one that is running; try it later"
            raise LogError(msg)
    touched = plan.touched
    erasure = new_erasure(
        reason, touched.logs, touched.streams, untracked=touched.untracked, ended=plan.ended
    )
    write_erasure(plan.root, erasure)
    return go_on(plan.root, erasure, connection, local=local, progress=progress)


def go_on(
    root: Path,
    erasure: Erasure | None,
    connection: Connection | None,
    *,
    local: str | None = None,
    progress: Listener | None = None,
) -> Erasure:
    """Bring an erasure to its end: a new one, or one that was begun and not done.

    Args:
        root: the record's place.
        erasure: which one; ``None`` for the one that is not done.
        connection: the graph; ``None`` if there is none.
        local: the name of the local server that the graph is on, if it is on one.
        progress: called with the progress so far.

    Raises:
        ParameterError: none is unfinished.
    """
    found = erasure or unfinished(root)
    if found is None:
        msg = "erase: expected --case or --events; got neither, and no erasure to finish"
        raise ParameterError(msg)
    return _Work(root, found, connection, local, progress).done()


class _Work:
    """The steps of an erasure, in their order."""

    def __init__(
        self,
        root: Path,
        erasure: Erasure,
        connection: Connection | None,
        local: str | None,
        progress: Listener | None,
    ) -> None:
        self.root, self.erasure = root, erasure
        self.connection, self.local = connection, local
        self.report = Reporter(progress, "erasing", "steps")

    def done(self) -> Erasure:
        steps = list(self._steps())
        for number, (name, step) in enumerate(steps):
            self.report(number, len(steps), name)
            if name not in self.erasure.steps:
                step()
                self.erasure = self.erasure.with_step(name)
                write_erasure(self.root, self.erasure)
        self.report(len(steps), len(steps), "done")
        left = unreached(self.root, self.erasure, self.connection, self.local)
        self.erasure = replace(self.erasure, done=now(), unreached=(*self.erasure.unreached, *left))
        write_erasure(self.root, self.erasure)
        if self.connection is not None:
            # All that the graph still lacks is when it was done; else the next load brings that.
            with suppress(StoreError):
                describe_erased(self.connection, self.root, self.erasure)
        return self.erasure

    def _steps(self) -> list[tuple[str, Callable[[], None]]]:
        """What needs values, or the logs as they were, comes before they go."""
        told = self.erasure
        runs = [(id, told.streams.get(id, {})) for id in told.runs]
        return [
            ("compared", self._compare),
            ("journal", self._journal),
            *((f"trees of run {id}", self._trees(id, streams)) for id, streams in runs),
            *((f"secrets of log {id}", self._secrets(id, at)) for id, at in told.logs.items()),
            *((f"run {id}", self._run(id, streams)) for id, streams in runs),
            *((f"log {id}", self._log(id, at)) for id, at in told.logs.items()),
            ("roots", self._commit),
            ("leftovers", lambda: _ignored(remove_leftovers(self.root))),
            ("graph", self._graph),
            ("files of the database", self._files),
        ]

    def _journal(self) -> None:
        mentions = mentioning(own_texts(self.root, self.erasure.logs))
        left = files_written(self.root, mentions)
        left += named_in_runs(self.root, self.erasure.runs, mentions)
        forget(self.root, mentions, self.erasure.id)
        self.erasure = replace(self.erasure, unreached=tuple(left))

    def _trees(self, id: str, streams: Mapping[str, Intervals]) -> Callable[[], None]:
        return lambda: forget_in_run(RunRecord(self.root, id), streams, self.erasure.logs)

    def _secrets(self, id: str, places: Intervals) -> Callable[[], None]:
        return lambda: forget_in_log(self._open(id), places, self.erasure.id)

    def _run(self, id: str, streams: Mapping[str, Intervals]) -> Callable[[], None]:
        def step() -> None:
            run = RunRecord(self.root, id)
            erase_in_run(run, streams, self.erasure.id)
            if id in self.erasure.ended:
                end_without_state(run, self.erasure.id)

        return step

    def _log(self, id: str, places: Intervals) -> Callable[[], None]:
        def step() -> None:
            log = self._open(id)
            fresh = f"secrets-{self.erasure.id}.bin"
            secrets = fresh if (log.folder / fresh).exists() else None
            drop_old_secrets(erase_in_log(log, places, secrets))

        return step

    def _graph(self) -> None:
        if self.connection is not None:
            erase_in_graph(self.connection, self.root, self.erasure, self.report.listener)

    def _files(self) -> None:
        """Make the local database anew: what was removed in place stays in its files for long."""
        if self.local is None:
            return
        try:
            rebuild(self.root, self.local, progress=self.report.listener)
        except WhenceError as error:
            told = (
                f"the files of the local database were not rebuilt: {error}; finish with: "
                f"WHENCE_INSTANCE={self.local} whence store rebuild"
            )
            self.erasure = replace(
                self.erasure,
                unreached=(*self.erasure.unreached, told),
                left=(*self.erasure.left, told),
            )

    def _concerned(self) -> Iterator[RunRecord]:
        """The runs whose roots an erasure changes, and that have some."""
        told = self.erasure
        for id in list_runs(self.root):
            run = RunRecord(self.root, id)
            if not read_commits(run):
                continue
            if id in told.runs or told.logs.keys() & set(run.manifest.logs.values()):
                yield run

    def _compare(self) -> None:
        """See which runs are not what was committed of them: an erasure must not vouch for them."""
        changed: dict[str, str] = {}
        for run in self._concerned():
            try:
                require_unchanged(run)
                committed_of(run)
            except WhenceError as error:
                changed[run.id] = str(error)
        self.erasure = replace(self.erasure, changed=changed)

    def _commit(self) -> None:
        """The root of a run that was erased from is another: that is committed as well."""
        for run in self._concerned():
            if run.id not in self.erasure.changed and run.manifest.is_complete:
                commit_run(run, why=f"erasure {self.erasure.id}")

    def _open(self, id: str) -> LogRecord:
        return LogRecord.open(log_folder(self.root, id))


def _ignored(_: object) -> None:
    """A step gives nothing."""


def _check(root: Path) -> None:
    begun = unfinished(root)
    if begun is not None:
        msg = (
            f"erasure {begun.id}: expected it to be done before another one; got one that was "
            "stopped on its way; try whence erase without --case and --events to finish it"
        )
        raise LogError(msg)


def _runs(root: Path, run: str | None) -> list[RunRecord]:
    return [RunRecord(root, run)] if run else [RunRecord(root, id) for id in list_runs(root)]


def _logs(root: Path, run: str | None) -> list[LogRecord]:
    if run is not None:
        record = RunRecord(root, run)
        return [record.log(name) for name in record.manifest.logs]
    found = sorted(path.parent for path in (root / "logs").glob(f"[!.]*/{MANIFEST}"))
    return [LogRecord.open(folder) for folder in found]


def _waits(run: RunRecord, case: str) -> bool:
    """Whether events of a case have arrived in a stream and are in no part of its log yet."""
    if run.manifest.is_complete:
        return False
    for name in run.manifest.logs:
        log = run.log(name)
        column = log.manifest.case
        for table in waiting_rows(run):
            if column in log.columns and same_case(log, table, str(column), case):
                return True
    return False


def _planned(root: Path, logs: Mapping[str, Intervals], waiting: list[str], verdicts: bool) -> Plan:
    touched = touched_by(root, logs, verdicts=verdicts)
    not_over = [
        id
        for id in touched.streams
        if RunRecord(root, id).manifest.status in ("interrupted", "failed")
    ]
    return Plan(root, touched, tuple(dict.fromkeys((*not_over, *waiting))))
