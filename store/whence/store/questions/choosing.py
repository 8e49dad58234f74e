"""Outputs that are meant without their positions: by value, or by the case or time they came at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from whence.engine.errors import ParameterError
from whence.engine.formula import parse_expression
from whence.engine.language.compiled import compile_expression
from whence.engine.language.events import Event
from whence.engine.language.expression import Call, Expression, Field
from whence.engine.language.traits import Traits
from whence.engine.lineage.positions import Intervals, joined, meeting
from whence.engine.record.erasing import ERASED
from whence.engine.values import Value, ValueFault, as_condition
from whence.engine.values.columns import from_canonical
from whence.store.catalog import RunGraph, StoredStream
from whence.store.connection import Connection
from whence.store.cypher import cypher
from whence.store.places import key_of, position_of
from whence.store.questions.moments import first_from, moment_of
from whence.store.questions.selecting import Selection, select

__all__ = ["Chosen", "Condition", "choose", "value_of"]

PAGE = 10_000


@dataclass(frozen=True)
class Chosen:
    """Outputs of a stream.

    Attributes:
        positions: the first of them.
        more: whether there are more.
    """

    positions: tuple[int, ...]
    more: bool


def choose(
    connection: Connection,
    run: RunGraph,
    stream: StoredStream,
    *,
    where: str | None = None,
    at: Selection | None = None,
    most: int = 1,
    record: Path | None = None,
) -> Chosen:
    """Find the first outputs of a stream that a condition is true of, or that came with an event.

    Args:
        connection: where the graph is.
        run: the run.
        stream: whose outputs.
        where: formula text over an output's value, which is called ``value``, ``verdict`` or as the
            stream is; of a record, its fields.
        at: only outputs that appeared after one of these input events.
        most: how many.
        record: where the record is, if it is needed.
    """
    if stream.w != 1:
        msg = (
            f"{stream.name}: expected a pipe whose outputs can be counted; got one inside a Slice; "
            f"try a position, {stream.name}@0"
        )
        raise ParameterError(msg)
    condition = None if where is None else Condition(where, stream)
    moments: Intervals | None = None
    if at is not None:
        found = select(connection, run, at, record)
        moments = joined(piece for ranges in found.values() for piece in ranges)
    positions: list[int] = []
    for row in _outputs(connection, stream, moments):
        if row["untracked"] or (condition is not None and not condition.holds(row)):
            continue
        if len(positions) == most:
            return Chosen(tuple(positions), True)
        positions.append(position_of(row["key"]))
    if not positions:
        said = [f"--where {where!r}"] if where is not None else []
        said += [str(at)] if at is not None else []
        msg = (
            f"{stream.name}: expected an output by {' '.join(said) or 'any choice'}; got none "
            f"among {stream.tracked:,} tracked outputs; try another value, case or time"
        )
        raise ParameterError(msg)
    return Chosen(tuple(positions), False)


def _outputs(
    connection: Connection, stream: StoredStream, moments: Intervals | None
) -> Iterator[dict[str, Any]]:
    """The outputs in order, a page at a time; only as many pages as are looked at are read."""
    at = 0
    while at < stream.length:
        if moments is not None:
            # Straight to where the next of these moments is.
            now = moment_of(connection, stream, at)
            ahead = next((m for m in moments if now is not None and m[1] >= now), None)
            if ahead is None:
                return
            at = max(at, first_from(connection, stream, ahead[0]))
            if at >= stream.length:
                return
        last = min(at + PAGE, stream.length) - 1
        page = connection.read(
            cypher("output_page"), first=key_of(stream.no, at), last=key_of(stream.no, last)
        )
        for row in page:
            if moments is None or any(meeting(moments, row["moment"], row["moment"])):
                yield row
        at = last + 1


class Condition:
    """A condition over the values of a stream's outputs."""

    def __init__(self, where: str, stream: StoredStream) -> None:
        """Read the text; names that stand for the value itself are told apart here."""
        self.where = where
        self.names = tuple(dict.fromkeys(("value", "verdict", stream.name, stream.processor)))
        written = parse_expression(where)
        self.of_records = compile_expression(written, [Traits()])
        self.of_values = compile_expression(_renamed(written, self.names), [Traits()])
        self.unknown = [name for name in _fields(written) if name not in self.names]

    def holds(self, row: Mapping[str, Any]) -> bool:
        """Whether it is true of an output, as the graph has it; of an erased one nothing is."""
        if row["kind"] == ERASED:
            return False
        value = value_of(row)
        try:
            if isinstance(value, Mapping):
                self._require({*value, *self.names})
                named = {name: value for name in self.names} | dict(value)
                return as_condition(self.of_records.value((Event(named),)))
            self._require(set(self.names))
            return as_condition(self.of_values.value((Event(value),)))
        except ValueFault as fault:
            msg = f"where {self.where!r}: {fault}"
            raise ParameterError(msg) from fault

    def _require(self, known: set[str]) -> None:
        for name in self.unknown:
            if name not in known:
                near = get_close_matches(name, sorted(known), n=1)
                hint = f"{near[0]} (did you mean that?)" if near else ", ".join(sorted(known))
                msg = f"where {self.where!r}: expected a name of the output; got {name!r}; try "
                raise ParameterError(msg + hint)


def _renamed(expression: Expression, names: tuple[str, ...]) -> Expression:
    if isinstance(expression, Field) and expression.name in names:
        return Field("value", expression.pipe)
    if isinstance(expression, Call):
        return replace(
            expression, arguments=tuple(_renamed(x, names) for x in expression.arguments)
        )
    return expression


def _fields(expression: Expression) -> Iterator[str]:
    if isinstance(expression, Field):
        yield expression.name
    elif isinstance(expression, Call):
        for argument in expression.arguments:
            yield from _fields(argument)


def value_of(row: Mapping[str, Any]) -> Value:
    """A value as the graph keeps it, as it was.

    Raises:
        ParameterError: the graph has only its beginning.
    """
    if row.get("cut"):
        msg = (
            f"the value of position {position_of(row['key'])}: expected one that the graph holds "
            "whole; got a text of more than 4,000 bytes; try outputs by position, case or time"
        )
        raise ParameterError(msg)
    return from_canonical(row["value"]) if row["kind"] is not None else row["value"]
