"""What answers are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from whence.engine.lineage.positions import Intervals, count, minus, overlap
from whence.store.catalog import RunGraph, StoredLog, StoredStream
from whence.store.places import Places

__all__ = [
    "Coverage",
    "InputEvent",
    "InputRange",
    "LogShare",
    "OutputEvent",
    "OutputShare",
    "Witness",
    "coverage_of",
    "log_shares",
]

_DETAILS = {"ends": "inputs only, no intermediate steps", "steps": "with intermediate steps"}
_PLACES_TOLD = 3
"""Ranges of erased events that one line names."""


@dataclass(frozen=True)
class Coverage:
    """How much of a run an answer rests on.

    Attributes:
        outputs: how many outputs the streams in question have.
        tracked: how many of them have associations.
        detail: ``ends`` or ``steps``.
        witnesses: ``first`` or ``all``.
        where: which outputs were tracked; ``None`` for all.
        status: how the run stands.
        loaded: whether all of its record is in the graph.
        erased: the events of its logs and of these streams whose values were erased, by name.
    """

    outputs: int
    tracked: int
    detail: str
    witnesses: str
    where: str | None
    status: str
    loaded: bool
    erased: tuple[tuple[str, Intervals], ...] = ()

    @property
    def share(self) -> float:
        """The share of outputs that was tracked."""
        return self.tracked / self.outputs if self.outputs else 1.0

    def __str__(self) -> str:
        """One line for a person."""
        return self.in_words(f" ({_DETAILS.get(self.detail, self.detail)})")

    def in_words(self, detail: str) -> str:
        """One line; `detail` follows the number of tracked outputs."""
        share = "all" if self.tracked == self.outputs else f"{self.tracked:,} of"
        words = [f"{share} {self.outputs:,} outputs tracked{detail}"]
        if self.where:
            words.append(f"where {self.where}")
        if self.witnesses != "first":
            words.append(f"witnesses {self.witnesses}")
        if not self.loaded or self.status != "complete":
            words.append(f"run {self.status}{'' if self.loaded else ', not all of it loaded'}")
        for name, places in self.erased:
            many = count(places)
            words.append(
                f"{many:,} events of {name} erased ({_where(places)})"
                if many > 1
                else f"{name}@{places[0][0]} erased"
            )
        return "; ".join(words)


def _where(places: Intervals) -> str:
    """Some of the places, and of how many events they are not.

    >>> _where(((0, 0), (4, 6), (9, 9), (12, 12), (15, 16)))
    '0, 4-6, 9 and 3 more'
    """
    told = [str(lo) if lo == hi else f"{lo}-{hi}" for lo, hi in places[:_PLACES_TOLD]]
    more = count(places[_PLACES_TOLD:])
    return ", ".join(told) + (f" and {more:,} more" if more else "")


def coverage_of(run: RunGraph, streams: Sequence[StoredStream]) -> Coverage:
    """The coverage of answers about these streams."""
    return Coverage(
        sum(s.length for s in streams),
        sum(s.tracked for s in streams),
        run.options.detail,
        run.options.witnesses,
        run.options.where,
        run.status,
        run.loaded,
        (
            *((log.name, log.erased) for log in run.logs if log.erased),
            *((stream.name, stream.erased) for stream in streams if stream.erased),
        ),
    )


@dataclass(frozen=True, order=True)
class InputRange:
    """Neighbouring input events that matter alike.

    Attributes:
        log: the log's name.
        lo: the first position.
        hi: the last position.
        fields: the fields that matter; ``None`` for whole events, empty if only that they are
            there.
    """

    log: str
    lo: int
    hi: int
    fields: tuple[str, ...] | None = None


@dataclass(frozen=True)
class InputEvent:
    """An input event with what the graph knows of it.

    Attributes:
        log: the log's name.
        position: its position.
        fields: the fields that matter; ``None`` for the whole event.
        case: its case, if the log's case is mapped.
        activity: its activity, likewise.
        time: its time, likewise.
        erased: whether its values were erased.
    """

    log: str
    position: int
    fields: tuple[str, ...] | None
    case: Any = None
    activity: Any = None
    time: datetime | str | None = None
    erased: bool = False


@dataclass(frozen=True)
class Witness:
    """One of several sets of input events, each of which explains an output by itself.

    Attributes:
        ranges: the input events; which of their fields matter is told of the first witness alone.
        events: the first of them one by one, with their columns for searching.
    """

    ranges: tuple[InputRange, ...]
    events: tuple[InputEvent, ...]

    @property
    def count(self) -> int:
        """How many input events there are."""
        return sum(each.hi - each.lo + 1 for each in self.ranges)


@dataclass(frozen=True)
class OutputEvent:
    """The event that was asked about.

    Attributes:
        name: its stream: ``total``, ``fork.1``, ``per-case/order``.
        position: its position there.
        value: its value; canonical JSON text unless it is a boolean, a number or a text.
        kind: the kind of such a text; ``None`` where the value speaks for itself.
        moment: the input position after which it appeared.
        label: its name for people, such as ``total@41``; inside a Slice with the position in the
            whole stream.
    """

    name: str
    position: int
    value: Any
    kind: str | None
    moment: int
    label: str

    @classmethod
    def of(cls, stream: StoredStream, position: int, row: Mapping[str, Any]) -> OutputEvent:
        """An event with the properties of its node."""
        label = stream.label(position)
        return cls(stream.name, position, row["value"], row.get("kind"), row["moment"], label)


@dataclass(frozen=True)
class LogShare:
    """Some of a log's events.

    Attributes:
        log: the log's name.
        ranges: their positions.
        length: how many events the log has.
    """

    log: str
    ranges: Intervals
    length: int

    @property
    def count(self) -> int:
        """How many they are."""
        return count(self.ranges)

    @property
    def share(self) -> float:
        """Which share of the log they are."""
        return self.count / self.length if self.length else 0.0


@dataclass(frozen=True)
class OutputShare:
    """Some of a pipe's outputs.

    Attributes:
        output: the pipe's name.
        ranges: their positions.
        length: how many outputs the pipe has.
    """

    output: str
    ranges: Intervals
    length: int

    @property
    def count(self) -> int:
        """How many they are."""
        return count(self.ranges)


def log_shares(logs: Sequence[StoredLog], places: Places, *, but: bool) -> tuple[LogShare, ...]:
    """What of each log is among some places, or, with ``but``, what is not."""
    shares = []
    for log in logs:
        whole: Intervals = ((0, log.length - 1),) if log.length else ()
        found = places.get(log.no, ())
        ranges = minus(whole, found) if but else overlap(whole, found)
        shares.append(LogShare(log.name, ranges, log.length))
    return tuple(shares)
