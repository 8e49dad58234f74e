"""Whether a run of the record is whole, and still what it was when it was written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from whence.engine.errors import LogError, WhenceError
from whence.engine.lineage.positions import count
from whence.engine.record.content_digest import ContentDigest
from whence.engine.record.erasing import erasures_of
from whence.engine.record.files import file_digest
from whence.engine.record.folders import log_folder
from whence.engine.record.logs import IMPORTED, LogRecord
from whence.engine.record.manifest import LISTS, StreamInfo
from whence.engine.record.runs import RunRecord

__all__ = ["Verified", "require_unchanged", "verify_run"]


@dataclass(frozen=True)
class Verified:
    """What was looked at, and what was wrong with it.

    Attributes:
        parts: how many parts of the run were read.
        events: how many events of its logs were read.
        problems: one line each; none if all is as it was.
        erased: what was taken away on purpose since then, one line each.
    """

    parts: int
    events: int
    problems: tuple[str, ...]
    erased: tuple[str, ...] = ()


def verify_run(run: RunRecord) -> Verified:
    """Read a run and its logs whole, and compare them with what their manifests say."""
    manifest = run.manifest
    problems: list[str] = []
    if not manifest.is_complete:
        problems.append(f"the run is {manifest.status}")
    parts = 0
    for stream in manifest.streams:
        parts += len(stream.outputs) + len(stream.associations)
        problems += _of_stream(run, stream)
    events = 0
    for name, id in manifest.logs.items():
        read, wrong = _of_log(log_folder(run.root, id))
        events += read
        problems += [f"log {name}: {problem}" for problem in wrong]
    erased = []
    for each in erasures_of(run.root, run.id, manifest.logs):
        if each.done is None:
            problems.append(f"erasure {each.id} is not done; try whence erase to finish it")
        several = each.streams.get(run.id, {}).values()
        inputs = sum(count(each.logs.get(id, ())) for id in manifest.logs.values())
        outputs = sum(count(places) for places in several)
        erased.append(
            f"erased with {each.id}, {each.begun}: {inputs:,} events of its logs, {outputs:,} of "
            f"its streams ({each.reason})"
        )
    return Verified(parts, events, tuple(problems), tuple(erased))


def require_unchanged(run: RunRecord) -> None:
    """Refuse a run of which a part, or an event of a log, is not what its manifest says.

    Raises:
        LogError: naming the first such part.
    """
    manifest = run.manifest
    for stream in manifest.streams:
        for problem in _of_stream(run, stream):
            raise _changed(run, problem)
    for name, id in manifest.logs.items():
        _, wrong = _of_log(log_folder(run.root, id))
        for problem in wrong:
            imported = run.log(name).manifest.source_format == IMPORTED
            what = f"log {name} (logs/{id}): {problem}"
            raise _changed(run, what, _IMPORTED if imported else _HINT)


_HINT = "a copy of the record, or run the chain again"
_IMPORTED = "whence export --values where it was made, and import that"


def _changed(run: RunRecord, problem: str, hint: str = _HINT) -> LogError:
    return LogError(
        f"run {run.id}: expected every part as its manifest says; got {problem}; try {hint}"
    )


def _of_stream(run: RunRecord, stream: StreamInfo) -> Iterator[str]:
    length = 0
    for what in LISTS:
        for part in stream.parts(what):
            where = f"{what} of {stream.name}, part {part.part}"
            path = run.path(what, stream.name, part.part)
            if not path.exists():
                yield f"{where}: the file is not there"
                continue
            if part.digest is not None and file_digest(path) != part.digest:
                yield f"{where}: the file was changed"
                continue
            if what == "outputs":
                rows = _rows(path)
                length += rows
                if rows != part.rows:
                    yield f"{where}: expected {part.rows} rows; got {rows}"
    if length != stream.length and all(
        run.path("outputs", stream.name, part).exists() for part in stream.outputs.numbers
    ):
        yield f"{stream.name}: expected {stream.length} outputs; got {length}"


def _rows(path: Path) -> int:
    try:
        with path.open("rb") as file:
            return int(pq.read_metadata(file).num_rows)
    except (OSError, pa.ArrowException):
        return 0


def _of_log(folder: Path) -> tuple[int, list[str]]:
    """How many events were read, and what is wrong with them."""
    try:
        log = LogRecord.open(folder)
    except OSError:
        return 0, ["it is not there"]
    digest, read = ContentDigest(log.columns), 0
    for number in range(log.manifest.parts):
        try:
            table = log.part(number)
        except (OSError, pa.ArrowException, WhenceError) as fault:
            return read, [f"part {number} cannot be read: {str(fault).splitlines()[0][:120]}"]
        read += table.num_rows
        for batch in table.drop_columns(["position"]).to_batches():
            digest.add(batch)
    if f"sha256:{digest.finish()}" != log.manifest.digest:
        return read, ["its events were changed"]
    return read, []
