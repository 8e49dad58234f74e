"""What a run hands back, and its answers; see `whence.api`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from whence.cells import ShownAnswer, ShownRun
from whence.engine.errors import ChainError, ParameterError, WhenceError
from whence.engine.intervals import of_positions
from whence.engine.record import RunRecord
from whence.engine.record.outputs import outputs_table, spark_outputs
from whence.engine.record.schema import from_canonical
from whence.engine.values import Value
from whence.store import Connection

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from whence.store.loading import LoadReport
    from whence.store.questions import Impact, NeverMatters, Why

__all__ = ["Answer", "Result"]

Found = TypeVar("Found")


@dataclass(frozen=True)
class Answer(ShownAnswer, Generic[Found]):
    """An answer, and the ways in which it can leave.

    Attributes:
        found: the answer itself; its attributes can be read from here directly.
        record: the run's record, for what the graph does not hold.
    """

    found: Found
    record: RunRecord = field(repr=False)

    def __getattr__(self, name: str) -> Any:
        """Whatever the answer itself has."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.found, name)

    def to_prov(self) -> Any:
        """As a document of the package ``prov``."""
        from whence.exporters import to_prov

        return to_prov(self.found, about=self.record)

    def to_rdflib(self) -> Any:
        """As a Dataset of the package ``rdflib``."""
        from whence.exporters import to_rdflib

        return to_rdflib(self.found, about=self.record)

    def save(self, path: str | Path) -> Path:
        """Write it as PROV; the name's ending says in which format: .json, .nq, .trig (.gz)."""
        from whence.exporters import save

        return save(self.found, path, about=self.record)


@dataclass(frozen=True)
class Result(ShownRun):
    """A run in the record, and in the graph if it was loaded.

    Attributes:
        record: what the run left on disk.
        connection: the graph; ``None`` if the run was not loaded.
        loaded: what loading did; ``None`` if it was not asked for, or not completed.
        not_loaded: why it was not completed; ``whence load`` goes on from there.
        again: an earlier attempt at this run had been interrupted, and this one took it up.
    """

    record: RunRecord
    connection: Connection | None = field(default=None, repr=False)
    loaded: LoadReport | None = None
    not_loaded: WhenceError | None = None
    again: bool = False

    @property
    def id(self) -> str:
        """The run's id."""
        return self.record.id

    def outputs(self, stream: str | None = None) -> Iterator[tuple[int, Value]]:
        """Position and value of every output of a pipe; of the only one, unless named."""
        declared = self._stream(stream)
        for part in declared["outputs"]:
            table = self.record.outputs(declared["name"], part["part"])
            places, values = table.column("position"), table.column("value")
            for place, value in zip(places.to_pylist(), values.to_pylist(), strict=True):
                yield place, from_canonical(value)

    def to_arrow(self, stream: str | None = None) -> pa.Table:
        """The outputs of a pipe as a table: position, moment and value, typed as far as it goes."""
        return outputs_table(self.record, self._stream(stream))

    def to_pandas(self, stream: str | None = None) -> Any:
        """The same as a DataFrame of pandas."""
        return self.to_arrow(stream).to_pandas()

    def to_spark(self, stream: str | None = None, session: SparkSession | None = None) -> Any:
        """The same as a DataFrame of Spark, which reads the record; values are canonical JSON."""
        from whence.engine.runners.spark_session import spark_session

        return spark_outputs(session or spark_session(), self.record, self._stream(stream))

    def first(self, value: Value, stream: str | None = None) -> int:
        """The position of the first output with a value."""
        for position, found in self.outputs(stream):
            if type(found) is type(value) and found == value:
                return position
        msg = f"an output: expected one that is {value!r}; got none; try another value"
        raise ParameterError(msg)

    def explain(self, output: int | str, *, support: bool = False) -> Answer[Why]:
        """Why has this output its value? ``4``, or ``"total@4"`` if the chain has several pipes.

        Without a connection the answer is worked out from the record.
        """
        from whence.store.questions import explain, explain_recorded

        if self.connection is None:
            return Answer(explain_recorded(self.record, str(output), support=support), self.record)
        why = explain(self._graph(), self.id, str(output), support=support, record=self.record.root)
        return Answer(why, self.record)

    def never_matters(self) -> Answer[NeverMatters]:
        """Which input events does no output need?"""
        from whence.store.questions import never_matters

        return Answer(never_matters(self._graph(), self.id, record=self.record.root), self.record)

    def impact(self, inputs: Iterable[int] | Mapping[str, Iterable[int]]) -> Answer[Impact]:
        """What stands, if these input events were wrong? Positions, by log if there are several."""
        from whence.store.questions import impact

        named: dict[str | None, Iterable[int]] = {}
        if isinstance(inputs, Mapping):
            named.update({str(log): places for log, places in inputs.items()})
        else:
            named[None] = inputs
        ranges = {log: of_positions(places) for log, places in named.items()}
        found = impact(self._graph(), self.id, ranges, record=self.record.root)
        return Answer(found, self.record)

    def _graph(self) -> Connection:
        if self.connection is None:
            msg = (
                f"run {self.id}: expected a connection to the graph; got none; "
                "try run(..., connection=connect(...)) or open_run(..., connection=...)"
            )
            raise ParameterError(msg)
        return self.connection

    def _stream(self, name: str | None) -> dict[str, Any]:
        streams = [s for s in self.record.manifest["streams"] if s["role"] == "output"]
        for each in streams:
            if each["name"] == name or (name is None and len(streams) == 1):
                return dict(each)
        names = ", ".join(s["name"] for s in streams)
        msg = f"an output: expected one of {names}; got {name!r}; try one of these"
        raise ChainError(msg)
