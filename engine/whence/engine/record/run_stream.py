"""An output stream of a run as a log of another: ``run:ID/STREAM``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from whence.engine.errors import LogError
from whence.engine.record.runs import RunRecord
from whence.engine.sources.source import Report, Split, source_schema
from whence.engine.values import Value, kind_of
from whence.engine.values.columns import as_column, from_canonical, kind_of_column

__all__ = ["RUN_PREFIX", "RunStream", "is_run_stream"]

RUN_PREFIX = "run:"


def is_run_stream(given: object) -> bool:
    """Whether a log is given as a stream of a run.

    >>> is_run_stream("run:latest/total"), is_run_stream("payments.csv")
    (True, False)
    """
    return isinstance(given, (str, Path)) and str(given).startswith(RUN_PREFIX)


class RunStream:
    """The events of a stream, at the positions that they have there.

    Records become columns; other values are plain, in one column ``value``.

    Attributes:
        plain: whether events are plain values.
        columns: what all events together have: every event is seen first.
        made_by: the run and the stream, as the log's manifest tells.
    """

    format = "run"
    ordered = True

    def __init__(self, root: Path, given: str | Path) -> None:
        """Find the stream.

        Args:
            root: the record's place.
            given: ``run:ID/STREAM``, or ``run:ID`` if the run has one output pipe.

        Raises:
            LogError: there is no such run or stream, or the run is not complete.
        """
        id, _, stream = str(given).removeprefix(RUN_PREFIX).partition("/")
        self.run = RunRecord(root, id)
        manifest = self.run.manifest
        known = {s.name: s for s in manifest.streams if s.role.is_pipe}
        pipes = [name for name, s in known.items() if s.role.is_output]
        if not stream and len(pipes) == 1:
            stream = pipes[0]
        if stream not in known:
            shown = [f"{RUN_PREFIX}{self.run.id}/{name}" for name in (*pipes, *known)][:1]
            msg = (
                f"{given}: expected a stream of the run, one of {', '.join(known) or 'none'}; "
                f"got {stream or 'no name'!r}; try {(shown or ['another run'])[0]}"
            )
            raise LogError(msg)
        if not manifest.is_complete:
            msg = (
                f"{given}: expected a run that is complete; got one that is {manifest.status}; "
                "try when it has come to its end"
            )
            raise LogError(msg)
        self.name = f"{RUN_PREFIX}{self.run.id}/{stream}"
        self.stream = known[stream]
        self.made_by = {"run": self.run.id, "stream": stream}
        self.roles: Mapping[str, str] = {}
        self.report = Report()
        self.plain, self.columns = self._survey()

    def __getstate__(self) -> dict[str, Any]:
        """Travel to another process."""
        return dict(self.__dict__)

    def _values(self) -> Iterator[list[Value]]:
        """The values part by part; of equal texts each is read once."""
        for part in self.stream.outputs.numbers:
            coded = self.run.outputs(self.stream.name, part).column("value")
            coded = coded.combine_chunks().dictionary_encode()
            if isinstance(coded, pa.ChunkedArray):
                coded = coded.combine_chunks()
            known = [from_canonical(text) for text in coded.dictionary.to_pylist()]
            yield [known[at] for at in coded.indices.to_pylist()]

    def _survey(self) -> tuple[bool, dict[str, str]]:
        """Whether events are plain, and the columns: one value of each kind tells."""
        seen: dict[str, dict[str, Value]] = {}
        records = others = False
        for values in self._values():
            for value in values:
                if isinstance(value, Mapping):
                    records = True
                    for name, cell in value.items():
                        seen.setdefault(str(name), {}).setdefault(kind_of(cell), cell)
                else:
                    others = others or kind_of(value) != "missing"
                    seen.setdefault("value", {}).setdefault(kind_of(value), value)
        if records and others:
            msg = (
                f"{self.name}: expected records only, or plain values only; got both; "
                "try another stream"
            )
            raise LogError(msg)
        if records:
            taken = {"position", "row"} & set(seen)
            if taken:
                msg = (
                    f"{self.name}: expected fields other than position and row, which the record "
                    f"needs for itself; got {min(taken)!r}; try another stream"
                )
                raise LogError(msg)
        columns = {name: kind_of_column(values.values()) for name, values in seen.items()}
        return not records, columns or {"value": "any"}

    def batches(self, split: Split | None = None) -> Iterator[pa.RecordBatch]:
        """The events in order."""
        self.report.begin()
        schema = source_schema(self.columns)
        for values in self._values():
            first = self.report.read
            rows = pa.array(range(first, first + len(values)), pa.int64())
            own = [self._column(name, kind, values) for name, kind in self.columns.items()]
            self.report.read += len(values)
            yield pa.RecordBatch.from_arrays([rows, *own], schema=schema)

    def _column(self, name: str, kind: str, values: list[Value]) -> pa.Array:
        if self.plain:
            return as_column(values, kind)
        cells = [value.get(name) if isinstance(value, Mapping) else None for value in values]
        return as_column(cells, kind)

    def splits(self, wanted: int) -> Sequence[Split]:
        """One: it was cut into parts already."""
        return (Split(),)

    def fingerprint(self) -> str:
        """A run that is complete does not change."""
        return self.name
