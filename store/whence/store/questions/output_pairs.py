"""The outputs of two runs, paired: by position, or by the input event after which they appeared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from whence.engine.record import RunRecord
from whence.engine.record.erasing import ERASED
from whence.store.catalog import RunGraph, StoredStream
from whence.store.connection import Connection
from whence.store.cypher import cypher
from whence.store.loading.values import output_properties
from whence.store.places import key_of, position_of
from whence.store.questions.in_record import run_in_record

__all__ = ["How", "Pair", "Said", "outputs_of", "pairs_that_differ"]

How = Literal["changed", "appeared", "vanished", "erased"]
PAGE = 5_000


@dataclass(frozen=True, slots=True)
class Said:
    """One output.

    Attributes:
        position: where it is.
        moment: the input position after which it appeared.
        value: its value; canonical JSON text unless it is a boolean, a number or a text.
        kind: the kind of such a text; ``None`` where the value speaks for itself.
    """

    position: int
    moment: int
    value: Any
    kind: str | None

    @property
    def erased(self) -> bool:
        """Whether nobody knows any more what it was."""
        return self.kind == ERASED

    def says_the_same(self, other: Said) -> bool:
        """Whether two outputs are equal: numbers by value, never a boolean with a number."""
        if isinstance(self.value, bool) or isinstance(other.value, bool):
            return self.value is other.value
        return bool(self.kind == other.kind and self.value == other.value)


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
    """Every output of a pipe, in order; from the record where not all of them are in the graph."""
    if stream.sparse:
        return list(_recorded(run_in_record(run.id, record), stream))
    ranges = [
        [key_of(stream.no, lo), key_of(stream.no, min(lo + PAGE, stream.length) - 1)]
        for lo in range(0, stream.length, PAGE)
    ]
    found = []
    for row in sorted(
        connection.read(cypher("outputs_read"), ranges=ranges), key=lambda row: int(row["first"])
    ):
        columns = (row["keys"], row["moments"], row["values"])
        for key, moment, (value, kind) in zip(*columns, strict=True):
            found.append(Said(position_of(key), moment, value, kind))
    return found


def _recorded(run: RunRecord, stream: StoredStream) -> Iterator[Said]:
    (known,) = (each for each in run.manifest["streams"] if each["name"] == stream.name)
    for part in known["outputs"]:
        for row in output_properties(0, run.outputs(stream.name, part["part"]), b""):
            yield Said(row["key"], row["moment"], row["value"], row.get("kind"))


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
    if moved_to is None:
        before = {("", each.position): each for each in old}
        after = {("", each.position): each for each in new}
    else:
        before = _by_event(old, moved_to)
        after = _by_event(new, lambda position: position)
    yield from _unlike(before, after)


def _by_event(said: list[Said], event: Callable[[int], int | None]) -> dict[tuple[Any, int], Said]:
    """Outputs by the event, in terms of the second run, and their number after it."""
    found: dict[tuple[Any, int], Said] = {}
    counts: dict[Any, int] = {}
    for each in said:
        at: Any = -1 if each.moment < 0 else event(each.moment)
        if at is None:
            at = f"only in the first run: {each.moment}"
        number = counts[at] = counts.get(at, -1) + 1
        found[at, number] = each
    return found


def _unlike(
    before: Mapping[tuple[Any, int], Said], after: Mapping[tuple[Any, int], Said]
) -> Iterator[Pair]:
    for place, one in before.items():
        other = after.get(place)
        if other is None:
            yield Pair("vanished", one, None)
        elif one.erased or other.erased:
            yield Pair("erased", one, other)
        elif not one.says_the_same(other):
            yield Pair("changed", one, other)
    for place, other in after.items():
        if place not in before:
            yield Pair("appeared", None, other)
