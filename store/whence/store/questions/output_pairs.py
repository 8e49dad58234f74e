"""The outputs of two runs, paired: by position, or by the input event after which they appeared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from whence.engine.errors import ParameterError
from whence.engine.record import RunRecord
from whence.engine.record.erasing import ERASED
from whence.engine.record.secret import record_secret
from whence.store.catalog import RunGraph, StoredStream
from whence.store.connection import Connection
from whence.store.cypher import cypher
from whence.store.loading.values import output_properties
from whence.store.places import key_of, position_of
from whence.store.questions.in_record import run_in_record

__all__ = ["How", "Pair", "Said", "outputs_of", "pairs_that_differ"]

How = Literal["changed", "appeared", "vanished", "erased"]
Place = tuple[int, int]
PAGE = 5_000


@dataclass(frozen=True, slots=True)
class Said:
    """One output.

    Attributes:
        position: where it is.
        moment: the input position after which it appeared.
        value: its value; canonical JSON text unless it is a boolean, a number or a text.
        kind: the kind of such a text; ``None`` where the value speaks for itself.
        digest: of the whole text, where the value is the beginning of a long one.
    """

    position: int
    moment: int
    value: Any
    kind: str | None
    digest: str | None = None

    @property
    def erased(self) -> bool:
        """Whether nobody knows any more what it was."""
        return self.kind == ERASED

    def says_the_same(self, other: Said) -> bool:
        """Whether two outputs are equal: numbers by value, never a boolean with a number."""
        if isinstance(self.value, bool) or isinstance(other.value, bool):
            return self.value is other.value
        one, another = ((each.kind, each.value, each.digest) for each in (self, other))
        return bool(one == another)


@dataclass(frozen=True, slots=True)
class Pair:
    """An output that two runs do not have alike.

    Attributes:
        how: ``changed``, ``appeared`` or ``vanished``; ``erased``: nobody knows any more.
        old: the first run's; ``None`` if it has none.
        new: the second run's; ``None`` if it has none.
    """

    how: How
    old: Said | None
    new: Said | None


def outputs_of(
    connection: Connection, run: RunGraph, stream: StoredStream, record: Path | None = None
) -> list[Said]:
    """Every output of a pipe, in order.

    From the record if there is one: of a long run they are read faster there, and of a
    pipe of which not all is in the graph nowhere else.
    """
    try:
        return list(_recorded(run_in_record(run.id, record), stream))
    except ParameterError:
        if stream.sparse:
            raise
    ranges = [
        [key_of(stream.no, lo), key_of(stream.no, min(lo + PAGE, stream.length) - 1)]
        for lo in range(0, stream.length, PAGE)
    ]
    found = []
    for row in sorted(
        connection.read(cypher("outputs_read"), ranges=ranges), key=lambda row: int(row["first"])
    ):
        columns = (row["keys"], row["moments"], row["values"])
        for key, moment, (value, kind, digest) in zip(*columns, strict=True):
            found.append(Said(position_of(key), moment, value, kind, digest))
    return found


def _recorded(run: RunRecord, stream: StoredStream) -> Iterator[Said]:
    known = run.manifest.by_name[stream.name]
    secret = record_secret(run.root)  # as in the graph, with which it may be compared
    for part in known.outputs:
        for row in output_properties(0, run.outputs(stream.name, part.part), secret):
            told = (row["value"], row.get("kind"), row.get("value_digest"))
            yield Said(row["key"], row["moment"], *told)


def pairs_that_differ(
    old: list[Said], new: list[Said], moved_to: Callable[[int], int | None] | None
) -> Iterator[Pair]:
    """Pair the outputs of a pipe and give those that are not alike.

    Args:
        old: those of the first run.
        new: those of the second.
        moved_to: where an input event of the first run is in the second; then outputs that appeared
            after the same event belong together. ``None``: outputs at the same position do.
    """
    events = moved_to or (lambda position: position)
    by_event = moved_to is not None
    after = dict(_places(new, lambda position: position, by_event=by_event))
    met = set()
    for place, one in _places(old, events, by_event=by_event):
        other = None if place is None else after.get(place)
        if other is None:
            yield Pair("vanished", one, None)
            continue
        met.add(place)
        if one.erased or other.erased:
            yield Pair("erased", one, other)
        elif not one.says_the_same(other):
            yield Pair("changed", one, other)
    for place, other in after.items():
        if place not in met:
            yield Pair("appeared", None, other)


def _places(
    said: list[Said], event: Callable[[int], int | None], *, by_event: bool
) -> Iterator[tuple[Place | None, Said]]:
    """Outputs by what tells which belong together.

    That is the position; or the event, in terms of the second run, and the number after it, which
    is ``None`` if the second run has no such event.
    """
    counts: dict[int, int] = {}
    for each in said:
        if not by_event:
            yield (each.position, 0), each
            continue
        at = -1 if each.moment < 0 else event(each.moment)
        if at is None:
            yield None, each
            continue
        number = counts[at] = counts.get(at, -1) + 1
        yield (at, number), each
