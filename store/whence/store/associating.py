"""Any job can say what explains its outputs: five columns, no chain.

Each row is (processor, output pipe, output position, input pipe, input position). The rows become a
run of the record and of the graph, and the questions work on it as on any other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from whence.engine.errors import ParameterError
from whence.engine.language.chain import Log
from whence.engine.lineage.association import LOG_PREFIX, Association
from whence.engine.record import RunRecord, RunWriter, ingest, new_run_id, record_place
from whence.engine.record.manifest import StreamInfo, StreamRole
from whence.engine.record.schema import OUTPUTS
from whence.store.connection import Connection
from whence.store.loading import load

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["associate"]

Row = tuple[str, int, int, str | int, int]
CHUNK = 5000


def associate(
    rows: DataFrame | Iterable[Row],
    *,
    run: str | None = None,
    record: str | Path | None = None,
    connection: Connection | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> RunRecord:
    """Keep the associations of a job as a run, and load it if a connection is given.

    Args:
        rows: processor, output pipe, output position, input pipe, input position; as the first five
            columns of a Spark DataFrame, or as tuples. An input pipe is the name of a log, or of
            another processor in these rows (``total``, ``fork.1``); a number is an input log of
            that processor alone.
        run: the new run's id; one is made, unless given.
        record: the record's place.
        connection: the graph to load.
        metadata: whatever belongs to the run.
    """
    root = record_place(record)
    id = run or new_run_id()
    source = _in_order(rows)
    job = _survey(source.again())
    names = repr(sorted(job.streams))

    def role(name: str) -> StreamRole:
        return StreamRole.STEP if name in job.read else StreamRole.OUTPUT

    writer = RunWriter(
        root,
        id,
        {
            "chain": {"job": sorted(job.streams)},
            "chain_digest": f"sha256:{hashlib.sha256(names.encode()).hexdigest()}",
            "logs": {name: _log(root, id, name, n).id for name, n in sorted(job.logs.items())},
            "runner": "job",
            "options": {
                "tracked": True,
                "detail": "steps",
                "witnesses": "first",
                "where": None,
                "closed": False,
            },
            "versions": {},
            "metadata": dict(metadata or {}),
            "chunk": CHUNK,
            "streams": [
                StreamInfo.new(name, processor, pipe, role(name), 1)
                for (processor, pipe), name in sorted(job.names().items())
            ],
        },
    )
    try:
        _write(writer, source.again(), job)
    except BaseException as error:
        writer.finish("failed", error=str(error))
        raise
    writer.finish("complete")
    if connection is not None:
        load(root, id, connection)
    return RunRecord(root, id)


@dataclass
class _Rows:
    """Rows sorted by output, to be gone through more than once."""

    frame: Any = None
    kept: list[Row] = field(default_factory=list)

    def again(self) -> Iterator[Row]:
        if self.frame is None:
            return iter(self.kept)
        return (tuple(row) for row in self.frame.toLocalIterator())


def _in_order(rows: DataFrame | Iterable[Row]) -> _Rows:
    columns = getattr(rows, "columns", None)
    if columns is not None and hasattr(rows, "toLocalIterator"):
        if len(columns) < 5:
            msg = (
                "associations: expected five columns (processor, output pipe, output position, "
                f"input pipe, input position); got {', '.join(columns)}; try select(...)"
            )
            raise ParameterError(msg)
        chosen = list(columns)[:5]
        frame: Any = rows
        return _Rows(frame=frame.select(*chosen).distinct().orderBy(*chosen).cache())
    given: Any = rows
    return _Rows(kept=sorted(set(given), key=lambda r: (r[0], r[1], r[2], str(r[3]), r[4])))


@dataclass
class _Job:
    """What the rows speak of: streams with their last positions, logs with their lengths."""

    streams: dict[tuple[str, int], int] = field(default_factory=dict)
    inputs: dict[tuple[str, str | int], int] = field(default_factory=dict)

    def names(self) -> dict[tuple[str, int], str]:
        several = {p for p, pipe in self.streams if pipe > 0}
        return {(p, pipe): f"{p}.{pipe}" if p in several else p for p, pipe in self.streams}

    def target(self, processor: str, pipe: str | int) -> str:
        """What an input pipe is: another stream, or a log."""
        if isinstance(pipe, str):
            return pipe if pipe in self.known else LOG_PREFIX + pipe
        return f"{LOG_PREFIX}{processor}.in{pipe}"

    @property
    def known(self) -> set[str]:
        return set(self.names().values())

    @property
    def read(self) -> set[str]:
        targets = {self.target(processor, pipe) for processor, pipe in self.inputs}
        return targets & self.known

    @property
    def logs(self) -> dict[str, int]:
        lengths: dict[str, int] = {}
        for (processor, pipe), last in self.inputs.items():
            target = self.target(processor, pipe)
            if target.startswith(LOG_PREFIX):
                name = target.removeprefix(LOG_PREFIX)
                lengths[name] = max(lengths.get(name, 0), last + 1)
        return lengths


def _survey(rows: Iterator[Row]) -> _Job:
    job = _Job()
    for row in rows:
        processor, out_pipe, out_pos, in_pipe, in_pos = row
        if out_pipe < 0 or out_pos < 0 or in_pos < 0 or not isinstance(processor, str):
            msg = f"an association: expected positions from 0 on; got {row}; try counting from 0"
            raise ParameterError(msg)
        job.streams[processor, out_pipe] = max(job.streams.get((processor, out_pipe), 0), out_pos)
        job.inputs[processor, in_pipe] = max(job.inputs.get((processor, in_pipe), 0), in_pos)
    if not job.streams:
        msg = "associations: expected at least one row; got none; try another job"
        raise ParameterError(msg)
    return job


def _log(root: Path, run: str, name: str, length: int) -> Any:
    """A log of which only the length is known; no other run can have the same one."""
    events: Iterator[dict[str, object]] = ({} for _ in range(length))
    return ingest(root, name, events, declared=Log(columns={}), chunk=CHUNK, apart=f"{run} {name}")


def _write(writer: RunWriter, rows: Iterator[Row], job: _Job) -> None:
    names = job.names()
    for (processor, pipe), own in groupby(rows, key=lambda row: (row[0], row[1])):
        name, last = names[processor, pipe], job.streams[processor, pipe]
        written = 0
        for part, some in groupby(own, key=lambda row: row[2] // CHUNK):
            while written < part:  # parts of whose outputs nothing was said
                writer.add(name, written, _events(written, last), [])
                written += 1
            found = list(_lists(name, some, job))
            told = len({row.lo for row in found})
            writer.add(name, part, _events(part, last), found, told)
            written = part + 1
    writer.publish()


def _lists(name: str, rows: Iterable[Row], job: _Job) -> Iterator[Association]:
    key = lambda row: (row[2], job.target(row[0], row[3]))  # noqa: E731
    for (at, to), some in groupby(rows, key=key):
        yield Association(name, "explains", "list", at, at, to, tuple(row[4] for row in some))


def _events(part: int, last: int) -> pa.Table:
    places = range(part * CHUNK, min((part + 1) * CHUNK, last + 1))
    return pa.Table.from_pydict(
        {
            "position": list(places),
            "moment": [-1] * len(places),
            "kind": ["missing"] * len(places),
            "value": ["null"] * len(places),
        },
        schema=OUTPUTS,
    )
