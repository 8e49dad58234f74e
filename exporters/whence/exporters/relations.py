"""From associations to PROV relations: event by event where it is few, by ranges where it is many.

========================  ==========================================================================
a list                    each pair of events, one relation
a zone, few outputs       the same
a zone, many outputs      the range of its outputs, related to the one event
a band                    the range of its outputs, related to the range of what they lead to
heads of slices           have no events of their own: a range of one position stands for them
========================  ==========================================================================
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from whence.engine.associations import Association
from whence.exporters.describing import facts, range_entity
from whence.exporters.identifiers import Name, Namespace, link
from whence.exporters.model import Edge, Run
from whence.exporters.names import RunNames
from whence.exporters.statements import KINDS, TYPE, Attributes, Kind, Statement, clean
from whence.exporters.vocabulary import term

__all__ = ["FEW", "Relations", "ZoneEnds", "edge_statements"]

FEW = 16
"""A zone of up to so many outputs is written event by event."""

_HOW: dict[str, tuple[str, Kind, Name]] = {
    "explains": ("d", KINDS["wasDerivedFrom"], term("Explains")),
    "trigger": ("t", KINDS["wasDerivedFrom"], term("Trigger")),
    "supports": ("i", KINDS["wasInfluencedBy"], term("Supports")),
}


@dataclass(frozen=True)
class _Marks:
    """What a relation says beyond its ends."""

    fields: tuple[str, ...] | None
    copy: bool
    witness: tuple[int, ...] | None

    def also(self, other: _Marks) -> _Marks:
        """The marks of two associations between the same events, taken together."""
        fields = witness = None
        if self.fields is not None and other.fields is not None:
            fields = tuple(sorted({*self.fields, *other.fields}))
        if self.witness is not None and other.witness is not None:
            witness = tuple(sorted({*self.witness, *other.witness}))
        return _Marks(fields, self.copy or other.copy, witness)

    def attributes(self) -> Attributes:
        known: Attributes = ()
        if self.fields is not None:
            known += tuple((term("field"), clean(each)) for each in self.fields)
            if not self.fields:
                known += facts(presence=True)
        if self.copy:
            known += facts(copy=True)
        return known + tuple((term("witness"), each) for each in self.witness or ())


class Relations:
    """Turns the associations of a run into statements, a part of the record at a time."""

    def __init__(self, run: Run, names: RunNames) -> None:
        """Learn how long each log and stream is, and which have no events."""
        self.names = names
        self.counts = {log.place: log.count for log in run.logs}
        self.counts.update({s.place: s.count for s in run.streams if s.role != "heads"})
        self.heads = {names.at(s.place) for s in run.streams if s.role == "heads"}

    def statements(self, rows: Iterable[Association]) -> Iterator[Statement]:
        """All relations of some associations of one stream; what is said twice is said once."""
        edges: dict[tuple[str, Namespace, int, Namespace, int], _Marks] = {}
        wide: dict[Association, _Marks] = {}
        for row in rows:
            marks = _Marks(row.fields, row.copy, row.witness)
            outputs = self._outputs(row)
            if outputs is None:
                key = replace(row, fields=None, copy=False, witness=None)
                wide[key] = wide[key].also(marks) if key in wide else marks
                continue
            source, target = self.names.at(row.stream), self.names.at(row.to)
            for output in outputs:
                for position in row.inputs:
                    place = (row.relation, source, output, target, position)
                    edges[place] = edges[place].also(marks) if place in edges else marks
        for (relation, source, output, target, position), marks in edges.items():
            yield from self._edge(relation, source, output, target, position, marks)
        for row, marks in wide.items():
            yield from self._wide(row, marks)

    def _outputs(self, row: Association) -> range | None:
        """The outputs of a row that is written event by event."""
        if row.kind == "band" or row.hi is None or self.names.at(row.stream) in self.heads:
            return None
        if row.kind == "zone" and row.hi - row.lo >= FEW:
            return None
        return range(row.lo, row.hi + 1)

    def _edge(
        self,
        relation: str,
        source: Namespace,
        output: int,
        target: Namespace,
        position: int,
        marks: _Marks,
    ) -> Iterator[Statement]:
        letter, kind, type_ = _HOW[relation]
        local = f"{letter}{output}-{link(target)}-{position}"
        reached = target.event(position)
        if target in self.heads:
            reached = source.name(f"h{local}")
            yield range_entity(reached, target.name("all"), position, position)
        ends = (source.event(output), reached)
        attributes = ((TYPE, type_), *marks.attributes())
        yield Statement(kind, Name(source, local), ends, attributes)

    def _wide(self, row: Association, marks: _Marks) -> Iterator[Statement]:
        letter, kind, type_ = _HOW[row.relation]
        source, target = self.names.at(row.stream), self.names.at(row.to)
        last = "end" if row.hi is None else str(row.hi)
        local = f"{letter}{row.lo}-{last}-{link(target)}"
        numbers: Attributes
        if row.kind == "band":
            reach = self._reached(row)
            if reach is None:
                return
            local = f"b{local}-{row.a}_{row.b}_{row.sa}_{row.sb}"
            bounds = {"from": row.a, "to": row.b, "fromFactor": row.sa, "toFactor": row.sb}
            numbers = ((TYPE, term("Band")), *facts(**bounds))
            reached = source.name(f"r{local}")
            yield range_entity(reached, target.name("all"), *reach)
        else:
            (position,) = row.inputs
            local = f"z{local}-{position}"
            numbers = ((TYPE, term("Zone")),)
            reached = target.event(position)
        outputs = source.name(f"o{local}")
        yield range_entity(outputs, source.name("all"), row.lo, row.hi)
        attributes = ((TYPE, type_), *numbers, *marks.attributes())
        yield Statement(kind, source.name(local), (outputs, reached), attributes)

    def _reached(self, row: Association) -> tuple[int, int | None] | None:
        """From where to where the outputs of a band lead, taken together."""
        count = self.counts.get(row.to)
        end = None if count is None else count - 1
        if row.hi is None:
            return max(0, row.lo * row.sa + row.a), end
        low = min(row.lo * row.sa, row.hi * row.sa) + row.a
        high = max(row.lo * row.sb, row.hi * row.sb) + row.b
        low, high = max(0, low), high if end is None else min(high, end)
        return (low, high) if low <= high else None


class ZoneEnds:
    """Finds the end of zones that were still open when their part was written.

    The record tells of such a zone twice, when it begins and when it ends. Only zones that are open
    at the same time are kept in mind.
    """

    def __init__(self) -> None:
        """Begin with no zone."""
        self._open: dict[tuple[str, str, tuple[int, ...], int], Association] = {}

    def settled(self, rows: Iterable[Association]) -> Iterator[Association]:
        """The rows whose end is known by now."""
        for row in rows:
            key = (row.relation, row.to, row.inputs, row.lo)
            if row.kind == "zone" and row.hi is None:
                self._open[key] = row
            else:
                self._open.pop(key, None)
                yield row

    def rest(self) -> Iterator[Association]:
        """The zones that go on to the end of the stream."""
        yield from self._open.values()


def edge_statements(edges: Iterable[Edge], run: Run, names: RunNames) -> Iterator[Statement]:
    """The relations of an answer, event by event."""
    rows = (
        Association(
            edge.output[0],
            edge.relation,
            "list",
            edge.output[1],
            edge.output[1],
            edge.input[0],
            (edge.input[1],),
            fields=edge.fields,
            copy=edge.copy,
            witness=edge.witness,
        )
        for edge in edges
    )
    return Relations(run, names).statements(rows)
