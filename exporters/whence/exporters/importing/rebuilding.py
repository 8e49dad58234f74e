"""A record from PROV: logs with the values that the file has, outputs, associations."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from whence.engine.disk import clear_about_disks
from whence.engine.errors import LogError, WhenceError
from whence.engine.lineage.association import LOG_PREFIX, Association
from whence.engine.record import RunWriter, list_runs
from whence.engine.record.erasing import ERASED
from whence.engine.record.files import remove_tree
from whence.engine.record.folders import log_folder, run_folder
from whence.engine.record.manifest import MANIFEST, StreamInfo, StreamRole
from whence.engine.record.remote import RemotePath
from whence.engine.record.schema import OUTPUTS
from whence.engine.record.staging import StagingFolder, staging_folder
from whence.engine.runners.options import CHUNK
from whence.engine.values import kind_of
from whence.engine.values.columns import canonical
from whence.exporters.importing.checking import check_run, check_stream
from whence.exporters.importing.logs import plain_value, write_log
from whence.exporters.importing.rows import associations
from whence.exporters.importing.statements import MOST, Statements, each_type, read_statements
from whence.exporters.prov.identifiers import mint

__all__ = ["import_runs"]

_COMPOSED = ("list", "record", "map")
_FAULTS = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError),
    *(TypeError, ValueError, pa.ArrowException),
)
"""What a file can bring about where its values are used as if Whence had written them."""


@clear_about_disks
def import_runs(
    path: Path, root: Path, format: str | None = None, *, most: int = MOST
) -> list[str]:
    """Put the runs of a PROV file into a record; the ids of those runs.

    A log comes back with the values of its events if the file has them, else with their case,
    activity and time. What cannot be read, or is there already, is refused, and the record stays
    as it was.

    Args:
        path: the file; its ending names the format.
        root: the record's place.
        format: the format, if the file's extension does not determine it.
        most: the most bytes, unpacked, that are read; memory for about fifteen times as much is
            needed.

    Raises:
        LogError: the file is damaged, holds no run, or holds a run that the record has.
    """
    bundles = read_statements(path, format, most)
    with _complete(path):
        runs = [_Run(stated) for stated in bundles.values() if _runs(stated)]
    if not runs:
        msg = (
            f"{path.name}: expected a run that Whence exported; got {len(bundles)} bundles without "
            "one; try what whence export RUN writes"
        )
        raise LogError(msg)
    known = set(list_runs(root))
    for run in runs:
        with _complete(path):
            run.check(path.name)
        run_folder(root, run.id)
        for id, _ in run.logs.values():
            log_folder(root, id)
        if run.id in known:
            msg = (
                f"run {run.id}: expected one that the record does not have; got one that is there; "
                "try another --record"
            )
            raise LogError(msg)
        known.add(run.id)
    with _nothing_left(root), staging_folder(root / "runs") as staging:
        with _complete(path):
            for run in runs:
                run.write(staging.path, root)
        _place(staging, runs, root)
    return [run.id for run in runs]


@contextmanager
def _complete(path: Path) -> Iterator[None]:
    """Refuse a file with a one-line error, whatever Python's exception is."""
    try:
        yield
    except WhenceError:
        raise
    except _FAULTS as error:
        lines = str(error).splitlines() or [type(error).__name__]
        msg = (
            f"{path.name}: expected a whole run as Whence writes it; got one in which something "
            f"is missing: {lines[0][:200]}; try exporting it again"
        )
        raise LogError(msg) from error


def _place(staging: StagingFolder, runs: Iterable[_Run], root: Path) -> None:
    """Give complete runs and their logs their names; on a fault, take back exactly those."""
    placed: list[Path] = []
    try:
        for run in runs:
            for id, _ in run.logs.values():
                folder = log_folder(root, id)
                if (staging.path / "logs" / id).exists() and staging.become(folder, f"logs/{id}"):
                    placed.append(folder)
                elif not (folder / MANIFEST).exists():
                    raise _taken(folder)
            folder = run_folder(root, run.id)
            if not staging.become(folder, f"runs/{run.id}"):
                raise _taken(folder)
            placed.append(folder)
    except BaseException:
        for folder in reversed(placed):
            remove_tree(folder, strict=True)
        raise


def _taken(folder: Path) -> LogError:
    return LogError(
        f"{folder}: expected a name that is free; got something that is there; try another --record"
    )


@contextmanager
def _nothing_left(root: Path) -> Iterator[None]:
    """On a fault, remove the empty folders that were not there before."""
    here = [] if isinstance(root, RemotePath) else [root / "runs", root / "logs", root]
    new = [folder for folder in here if not folder.exists()]
    try:
        yield
    except BaseException:
        for folder in new:
            with suppress(OSError):
                folder.rmdir()
        raise


def _runs(stated: Statements) -> list[dict[str, list[Any]]]:
    return [known for known in stated.things.values() if "Run" in each_type(known)]


class _Run:
    """One run, as a bundle describes it."""

    def __init__(self, stated: Statements) -> None:
        (known,) = _runs(stated)
        self.id: str = known["name"][0]
        self.known = known
        self.logs: dict[str, tuple[str, dict[str, list[Any]]]] = {}
        self.streams: list[dict[str, list[Any]]] = []
        self.chain: dict[str, list[Any]] = {}
        places: dict[str, str] = {}
        own = mint("run", self.id)
        for iri, said in stated.things.items():
            kinds = set(each_type(said))
            if "Log" in kinds and "name" in said:
                for name in said["name"]:
                    self.logs[name] = (_log_id(iri), said)
                places[iri] = LOG_PREFIX + said["name"][0]
            elif "Stream" in kinds and iri.startswith(own):
                self.streams.append(said)
                places[iri] = said["name"][0]
            elif "Chain" in kinds:
                self.chain = said
        self.events: dict[str, list[dict[str, list[Any]]]] = {p: [] for p in places.values()}
        belongs: dict[str, str] = {}
        for collection, member in stated.members:
            place = places.get(collection)
            if place is not None:
                belongs[member] = place
                self.events[place].append(stated.things[member])
        for several in self.events.values():
            several.sort(key=lambda said: int(said["position"][0]))
        self.rows: dict[str, list[Association]] = {s["name"][0]: [] for s in self.streams}
        for row in associations(stated, places, belongs):
            self.rows[row.stream].append(row)

    def check(self, file: str) -> None:
        """Refuse a run that no run can be, or of which a part was cut off."""
        check_run(file, self.known)
        for said in self.streams:
            check_stream(file, said)
        counted = {LOG_PREFIX + said["name"][0]: said for _, said in self.logs.values()}
        counted.update({said["name"][0]: said for said in self.streams})
        for place, said in counted.items():
            count = said.get("count", [None])[0]
            there = len(self.events[place])
            if count is not None and count != there:
                msg = (
                    f"{file}: expected {count:,} events of {place}; got {there:,}; "
                    "try exporting it again"
                )
                raise LogError(msg)

    def write(self, folder: Path, root: Path) -> None:
        """Write it as a record of its own.

        Args:
            folder: that record's place.
            root: the record that it is for; a log that is there is not written again.
        """
        for name, (id, said) in self.logs.items():
            if not any((log_folder(at, id) / MANIFEST).exists() for at in (root, folder)):
                write_log(folder, name, id, said, self.events[LOG_PREFIX + said["name"][0]])
        writer = RunWriter(folder, self.id, self._stated())
        try:
            for said in self.streams:
                self._write_stream(writer, said)
            writer.publish()
        except BaseException:
            writer.leave()
            raise
        status, error = self.known["status"][0], self.known.get("error", [None])[0]
        writer.finish(
            status,
            pending=self._json("pending"),
            error=error,
            ended=_moment(self.known.get("endTime")),
        )

    def _stated(self) -> dict[str, Any]:
        definition = self.chain.get("definition", ["null"])[0]
        return {
            "chain": json.loads(definition),
            "chain_digest": self.chain.get("digest", [None])[0],
            "logs": {name: id for name, (id, _) in self.logs.items()},
            "runner": self.known["runner"][0],
            "options": self._json("options"),
            "versions": self._json("versions"),
            "metadata": self._json("metadata"),
            "chunk": CHUNK,
            "imported": True,
            "started": _moment(self.known["startTime"]),
            "streams": [
                StreamInfo.new(
                    said["name"][0],
                    said["processor"][0],
                    said["pipe"][0],
                    StreamRole(said["role"][0]),
                    said.get("width", [1])[0],
                )
                for said in self.streams
            ],
        }

    def _json(self, word: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.known.get(word, ["{}"])[0])
        return found

    def _write_stream(self, writer: RunWriter, said: Mapping[str, list[Any]]) -> None:
        name, width = said["name"][0], CHUNK * said.get("width", [1])[0]
        parts: dict[int, tuple[list[Mapping[str, list[Any]]], list[Association]]] = {}
        if not StreamRole(said["role"][0]).is_end:
            for event in self.events[name]:
                parts.setdefault(event["position"][0] // width, ([], []))[0].append(event)
        for row in self.rows[name]:
            parts.setdefault(row.lo // width, ([], []))[1].append(row)
        tracked = said.get("tracked", [0])[0]
        for part in sorted(parts):
            events, rows = parts[part]
            rows.sort(key=lambda row: (row.lo, row.relation, row.to, row.inputs))
            writer.add(name, part, _outputs(events) if events else None, rows, tracked)
            tracked = 0


def _log_id(iri: str) -> str:
    """The identity of a log; of one that is an earlier run's output, made from its name."""
    space = mint("log")
    if iri.startswith(space):
        return unquote(iri[len(space) :].partition(":")[0])
    return hashlib.sha256(iri.encode()).hexdigest()[:32]


def _moment(times: list[Any] | None) -> str | None:
    if not times:
        return None
    time = times[0] if isinstance(times[0], datetime) else datetime.fromisoformat(times[0])
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _outputs(events: Iterable[Mapping[str, list[Any]]]) -> pa.Table:
    columns: dict[str, list[Any]] = {name: [] for name in OUTPUTS.names}
    for said in events:
        kind, text = _value(said)
        columns["position"].append(said["position"][0])
        columns["moment"].append(said["moment"][0])
        columns["kind"].append(kind)
        columns["value"].append(text)
    return pa.Table.from_pydict(columns, schema=OUTPUTS)


def _value(said: Mapping[str, list[Any]]) -> tuple[str, str]:
    """The kind of an event's value, and the value as canonical JSON."""
    kind = said.get("kind", [None])[0]
    if "value" not in said:
        return ERASED if kind == ERASED else "missing", "null"
    value = said["value"][0]
    if kind in _COMPOSED:
        return kind, value
    plain = plain_value(value)
    return kind_of(plain), canonical(plain)
