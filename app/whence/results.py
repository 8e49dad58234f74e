"""A run in Python: its outputs, and every question about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypedDict, TypeVar

from whence.committing import Committing
from whence.engine.errors import ChainError, ParameterError, WhenceError
from whence.engine.lineage.positions import Intervals, of_positions
from whence.engine.record import RunRecord
from whence.engine.record.manifest import StreamInfo
from whence.engine.record.outputs import outputs_table, spark_outputs
from whence.engine.values import Value
from whence.engine.values.columns import from_canonical
from whence.notebook import ShownAnswer, ShownRun
from whence.store import Connection
from whence.store.questions.selecting import Selection

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from whence.engine.what_if import WhatIf
    from whence.exporters.evidence.committing import Committed
    from whence.store.loading import LoadReport
    from whence.store.questions import (
        Comparison,
        Contribution,
        Found,
        Impact,
        NeverMatters,
        Responsibility,
        Trace,
        Why,
    )
    from whence.store.questions.never_matters import By

__all__ = ["Answer", "Answers", "Result", "Selection"]

EVENTS_SHOWN = 1000

Told = TypeVar("Told")


class _How(TypedDict):
    support: bool
    most: int


@dataclass(frozen=True)
class Answer(ShownAnswer, Generic[Told]):
    """An answer, and the ways in which it can leave.

    Attributes:
        found: the answer itself; its attributes can be read from here directly.
        record: the run's record, for what the graph does not hold.
    """

    found: Told
    record: RunRecord = field(repr=False)

    def __getattr__(self, name: str) -> Any:
        """An attribute of the answer itself."""
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
        """Write it as PROV; the extension determines the format: .json, .nq, .trig (.gz)."""
        from whence.exporters import save

        return save(self.found, path, about=self.record)


@dataclass(frozen=True)
class Answers:
    """Why the first outputs of a choice have their values.

    Attributes:
        answers: one for each.
        more: whether more outputs match than are explained; increase ``first`` to get them.
    """

    answers: tuple[Answer[Why], ...]
    more: bool

    def __iter__(self) -> Iterator[Answer[Why]]:
        return iter(self.answers)

    def __len__(self) -> int:
        return len(self.answers)


@dataclass(frozen=True)
class Result(ShownRun):
    """A run in the record, and in the graph if it was loaded.

    Attributes:
        record: what the run left on disk.
        connection: the graph; ``None`` if the run was not loaded.
        loaded: what loading did; ``None`` if it was not requested, or not completed.
        not_loaded: why it was not completed; ``whence load`` continues from there.
        again: whether it resumed an interrupted attempt.
        committed: its committed root, if it was run; ``None`` if it was only opened.
    """

    record: RunRecord
    connection: Connection | None = field(default=None, repr=False)
    loaded: LoadReport | None = None
    not_loaded: WhenceError | None = None
    again: bool = False
    committed: Committed | None = field(default=None, repr=False)

    @property
    def id(self) -> str:
        """The run's id."""
        return self.record.id

    def outputs(self, stream: str | None = None) -> Iterator[tuple[int, Value]]:
        """Position and value of every output of a pipe; by default of the only one."""
        declared = self._stream(stream)
        for part in declared.outputs.numbers:
            table = self.record.outputs(declared.name, part)
            places, values = table.column("position"), table.column("value")
            for place, value in zip(places.to_pylist(), values.to_pylist(), strict=True):
                yield place, from_canonical(value)

    def to_arrow(self, stream: str | None = None) -> pa.Table:
        """The outputs of a pipe as a table: position, moment and value, typed if possible."""
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

    def explain(
        self, output: int | str, *, support: bool = False, most: int = EVENTS_SHOWN
    ) -> Answer[Why]:
        """Why has this output its value? ``4``, or ``"total@4"`` if the chain has several pipes.

        Without a connection the answer is computed from the record.

        Args:
            output: its position, or ``[PROCESSOR[.PIPE]@]POSITION``.
            support: also return which input events are sufficient for it.
            most: maximum number of explaining events to list.
        """
        from whence.store.questions import explain, explain_recorded

        how: _How = {"support": support, "most": most}
        if self.connection is None:
            return Answer(explain_recorded(self.record, str(output), **how), self.record)
        root = self.record.root
        return Answer(explain(self._graph(), self.id, str(output), record=root, **how), self.record)

    def explain_first(
        self,
        where: str | None = None,
        *,
        at: Selection | None = None,
        stream: str | None = None,
        first: int = 1,
        support: bool = False,
        most: int = EVENTS_SHOWN,
    ) -> Answers:
        """Why do the first outputs that meet a condition have their values?

        Args:
            where: the condition, such as ``verdict = false``.
            at: they appeared after one of these input events: ``Selection(case="88")``.
            stream: the output pipe; by default the only one.
            first: maximum number of outputs.
            support: also return which input events are sufficient for each.
            most: maximum number of explaining events to list.
        """
        from whence.store.questions import explain_first

        how: _How = {"support": support, "most": most}
        found = explain_first(
            self._graph(),
            self.id,
            stream,
            where=where,
            at=at,
            first=first,
            record=self.record.root,
            **how,
        )
        return Answers(tuple(Answer(why, self.record) for why in found.answers), found.more)

    def never_matters(self, by: By | None = None) -> Answer[NeverMatters]:
        """Which input events never mattered? Also by ``case``, ``activity`` or ``field``."""
        from whence.store.questions import never_matters

        found = never_matters(self._graph(), self.id, by=by, record=self.record.root)
        return Answer(found, self.record)

    def impact(
        self,
        inputs: Iterable[int] | Mapping[str, Iterable[int]] | Selection,
        *,
        keys_corrupt: bool = False,
        order_corrupt: bool = False,
        missing_corrupt: bool = False,
    ) -> Answer[Impact]:
        """Which outputs hold if these input events are wrong?

        Args:
            inputs: positions, by log if there are several; or a `Selection`.
            keys_corrupt: their slice keys may be wrong too: they may belong to other slices.
            order_corrupt: their places may be wrong too: they may be anywhere in their log.
            missing_corrupt: present values may be missing, and missing values present.
        """
        from whence.store.questions import impact

        found = impact(
            self._graph(),
            self.id,
            inputs if isinstance(inputs, Selection) else _ranges(inputs),
            keys_corrupt=keys_corrupt,
            order_corrupt=order_corrupt,
            missing_corrupt=missing_corrupt,
            record=self.record.root,
        )
        return Answer(found, self.record)

    def contribution(self, most: int = 20) -> Contribution:
        """Which input events explain the most outputs? The first ``most`` of them."""
        from whence.store.questions import contribution

        return contribution(self._graph(), self.id, most=most, record=self.record.root)

    def responsibility(self, output: int | str) -> Responsibility:
        """How much does one output depend on each input event, considering alternatives?"""
        from whence.store.questions import responsibility

        return responsibility(self._graph(), self.id, str(output), record=self.record.root)

    def compare(self, other: Result | str, most: int = 20) -> Comparison:
        """Which outputs differ in another run, and why? This run is the old one.

        Args:
            other: the new run, or its id.
            most: maximum number of outputs to list per pipe.
        """
        from whence.store.questions import compare

        new = other.id if isinstance(other, Result) else other
        return compare(self._graph(), self.id, new, most=most, record=self.record.root)

    def trace(self, event: str, *, support: bool = False) -> Trace:
        """Follow an event, ``log@3`` or ``total@41``, through every run that used or made it.

        Args:
            event: its name in this run.
            support: follow what supports instead of what explains.
        """
        from whence.store.questions import trace

        return trace(self._graph(), event, run=self.id, support=support, record=self.record.root)

    def what_if(
        self,
        corrections: str | Iterable[str] | Mapping[str, Value],
        *,
        keep: bool = False,
        most: int = 1000,
    ) -> WhatIf:
        """What would the run have output with other values? Needs no graph.

        Args:
            corrections: ``log@41.amount=100``, one or more; or new values by ``log@41.amount``.
            keep: store the new run, and the corrected logs as revisions.
            most: maximum number of outputs to list per pipe.
        """
        from whence.engine.what_if import what_if

        several = [corrections] if isinstance(corrections, str) else corrections
        answer = what_if(self.record, several, keep=keep, most=most)
        if answer.kept is not None:
            Committing().commit(RunRecord(self.record.root, answer.kept))
        return answer

    def search(
        self, chosen: Selection | None = None, *, value: str | None = None, most: int = 50
    ) -> Found:
        """Find selected input events, or outputs with a value.

        Args:
            chosen: which input events; with a value, only outputs that appeared with one of them.
            value: the value of outputs, as text: ``false``, ``41``, ``approve``.
            most: maximum number; the answer says whether there are more.
        """
        from whence.store.questions import search

        return search(
            self._graph(), self.id, chosen, value=value, most=most, record=self.record.root
        )

    def _graph(self) -> Connection:
        if self.connection is None:
            msg = (
                f"run {self.id}: expected a connection to the graph; got none; "
                "try run(..., connection=connect(...)) or open_run(..., connection=...)"
            )
            raise ParameterError(msg)
        return self.connection

    def _stream(self, name: str | None) -> StreamInfo:
        streams = self.record.manifest.outputs
        for each in streams:
            if each.name == name or (name is None and len(streams) == 1):
                return each
        names = ", ".join(s.name for s in streams)
        msg = f"an output: expected one of {names}; got {name!r}; try one of these"
        raise ChainError(msg)


def _ranges(inputs: Iterable[int] | Mapping[str, Iterable[int]]) -> dict[str | None, Intervals]:
    named: dict[str | None, Iterable[int]] = {}
    if isinstance(inputs, Mapping):
        named.update({str(log): places for log, places in inputs.items()})
    else:
        named[None] = inputs
    return {log: of_positions(places) for log, places in named.items()}
