"""From the tags of a piece to typed columns: one row an event, those of its trace with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import tzinfo

import numpy as np
import pyarrow as pa

from whence.engine.errors import LogError
from whence.engine.sources.source import Reading
from whence.engine.sources.typed import typed
from whence.engine.sources.xes.pieces import Piece
from whence.engine.sources.xes.tokens import ATTRIBUTES, EVENT, TRACE, Ints
from whence.engine.sources.xes.values import KIND_OF, decoded, element, nested, own_value, values
from whence.engine.values import ValueFault
from whence.engine.values.arrow_compute import pc
from whence.engine.values.columns import canonical

__all__ = ["CASE", "NESTED", "Fault", "Rows", "rows_of"]

CASE = "case:"
"""What the names of traces' attributes begin with."""

NESTED = ":nested"
"""What is behind an attribute's name where the attributes inside it are."""

_NAME_OF = {number: name for name, number in ATTRIBUTES.items()}
_FIRST_ATTRIBUTE = min(_NAME_OF)
_COMPOSITE = (ATTRIBUTES["list"], ATTRIBUTES["container"])
_AMPERSAND, _LAST_CONTROL = ord("&"), 31


@dataclass(frozen=True)
class Fault:
    """Something that does not fit.

    Attributes:
        row: which event of the piece, from 0.
        line: where it is in the file.
        column: which column.
        problem: what is wrong.
        trace: it is wrong for all events of the trace.
    """

    row: int
    line: int
    column: str
    problem: str
    trace: bool = False


Columns = dict[tuple[str, str], pa.Array]
"""By name and kind; one name may come with several kinds."""


@dataclass
class Rows:
    """The events of a piece.

    Attributes:
        count: how many.
        columns: what they hold.
        faults: what does not fit.
        fits: which events have no fault.
        traces: how many traces begin here.
        without_events: how many of the traces have no event.
    """

    count: int
    columns: Columns
    faults: list[Fault] = field(default_factory=list)
    fits: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))
    traces: int = 0
    without_events: int = 0


def rows_of(piece: Piece, name: str, reading: Reading, zone: tzinfo, traces: int) -> Rows:
    """Read a piece.

    Args:
        piece: whole events.
        name: the file's name, for errors.
        reading: kinds that are stated, zone, limits.
        zone: the zone of times that carry none.
        traces: how many traces began before this piece.

    Raises:
        LogError: it is no XES, or beyond a limit.
    """
    tags, before, count = piece.tags, piece.before, piece.count
    kind, opening = tags.kind[:count], tags.change[:count] >= 0
    in_trace = (piece.top >= 0) & (kind[piece.top] == TRACE)
    in_event = in_trace & (piece.middle >= 0) & (kind[piece.middle] == EVENT)
    trace_tags = np.flatnonzero((before == 1) & opening & (kind == TRACE))
    event_tags = np.flatnonzero((before == 2) & opening & in_trace & (kind == EVENT))
    own = np.flatnonzero((before == 3) & opening & in_event)
    shared = np.flatnonzero((before == 2) & opening & in_trace & (kind != EVENT))
    _check_places(piece, name, event_tags, trace_tags, own, shared)

    trace_of = np.searchsorted(trace_tags, event_tags) - 1
    reader = _Attributes(piece, name, reading, zone)
    columns = reader.columns(own, np.searchsorted(event_tags, own) - 1, len(event_tags), "")
    faults = [Fault(*fault) for fault in reader.faults]
    reader.faults.clear()
    of_traces = reader.columns(
        shared, np.searchsorted(trace_tags, shared) - 1, len(trace_tags), CASE
    )
    goes_on = bool(piece.head)
    _name_traces(piece, of_traces, reader, trace_tags, traces - goes_on)
    first_row = np.searchsorted(trace_of, np.arange(len(trace_tags)))
    has_rows = np.append(trace_of, -1)[first_row] == np.arange(len(trace_tags))
    fits = np.ones(len(event_tags), bool)
    fits[[fault.row for fault in faults]] = False
    fits[np.isin(trace_of, [fault[0] for fault in reader.faults])] = False
    for trace, line, column, problem in reader.faults:
        if has_rows[trace] and not (goes_on and trace == 0):
            faults.append(Fault(int(first_row[trace]), line, column, problem, trace=True))
    for key, array in of_traces.items():
        columns[key] = array.take(pa.array(trace_of))
    faults.sort(key=lambda fault: (fault.row, fault.line))
    empty = int(len(trace_tags) - has_rows.sum())
    return Rows(len(event_tags), columns, faults, fits, len(trace_tags) - goes_on, empty)


def _check_places(
    piece: Piece, name: str, events: Ints, traces: Ints, own: Ints, shared: Ints
) -> None:
    """Refuse elements where XES has none, and a trace's attributes behind its events."""
    kind = piece.tags.kind[: piece.count]

    def refuse(tag: int, expected: str, got: str, hint: str) -> None:
        where = f"{name}, line {piece.line_of(tag)}"
        msg = f"{where}: expected {expected}; got {got}; try {hint}"
        raise LogError(msg)

    opening = piece.tags.change[: piece.count] >= 0
    stray = np.flatnonzero((kind == EVENT) & opening & (piece.before == 1))
    if len(stray):
        refuse(int(stray[0]), "events inside traces", "one outside", "putting it into a <trace>")
    for found, inside in ((own, "an event"), (shared, "a trace")):
        odd = found[kind[found] < _FIRST_ATTRIBUTE]
        if len(odd):
            begins = piece.tags.data[int(piece.tags.at[odd[0]]) :][:40].decode("utf-8", "replace")
            refuse(int(odd[0]), f"attributes in {inside}", repr(begins), "<string key= value=>")
    if len(shared):
        last_event = np.searchsorted(events, shared) - 1
        its_trace = np.searchsorted(traces, shared) - 1
        late = (last_event >= 0) & (np.append(events, -1)[last_event] > traces[its_trace])
        late |= (its_trace == 0) & (piece.head > 0) & (piece.tags.at[shared] >= piece.head)
        if late.any():
            tag = int(shared[late][0])
            refuse(tag, "a trace's attributes before its events", "one behind", "moving it up")


def _name_traces(
    piece: Piece, columns: Columns, reader: _Attributes, traces: Ints, before: int
) -> None:
    """A trace without a name is wrong, or a case of its own."""
    name = CASE + "concept:name"
    named = np.zeros(len(traces), bool)
    for (column, _), array in columns.items():
        if column == name:
            named |= array.is_valid().to_numpy(zero_copy_only=False)
    told = {fault[0] for fault in reader.faults if fault[2] == name}
    for trace in np.flatnonzero(~named):
        if trace not in told:
            problem = (
                "expected a trace with a concept:name; got one without; "
                "try --on-bad keep for a case of its own, or drop"
            )
            line = piece.line_of(int(traces[trace]))
            reader.faults.append((int(trace), line, name, problem))
    if not named.all():
        own = [None if n else f"(trace {before + i + 1})" for i, n in enumerate(named)]
        given = columns.get((name, "text"))
        made = pa.array(own, pa.string())
        columns[name, "text"] = made if given is None else pc.coalesce(given, made)


class _Attributes:
    """Reads attributes of many owners at once.

    Attributes:
        faults: owner, line, column and what is wrong.
    """

    def __init__(self, piece: Piece, name: str, reading: Reading, zone: tzinfo) -> None:
        self.piece, self.name, self.reading, self.zone = piece, name, reading, zone
        self.faults: list[tuple[int, int, str, str]] = []
        signs = np.frombuffer(piece.tags.data, np.uint8)
        self._special = np.flatnonzero((signs == _AMPERSAND) | (signs <= _LAST_CONTROL))

    def columns(self, tags: Ints, owners: Ints, count: int, prefix: str) -> Columns:
        """One column for each key and kind."""
        made: Columns = {}
        if not len(tags):
            return made
        limits = self.reading.limits
        most = int(np.argmax(np.bincount(owners)))
        limits.check("attributes", int((owners == most).sum()), self._where(tags, owners, most))
        keys = self._texts(tags, self.piece.tags.key, "key").dictionary_encode()
        limits.check("columns", len(keys.dictionary), self.name)
        texts = self._texts(tags, self.piece.tags.value, "value")
        codes = keys.indices.to_numpy()
        order = np.argsort(codes, kind="stable")
        bounds = np.searchsorted(codes[order], np.arange(len(keys.dictionary) + 1))
        for number, key in enumerate(keys.dictionary.to_pylist()):
            chosen = order[bounds[number] : bounds[number + 1]]
            chosen = self._once(chosen, tags, owners, prefix + key)
            kinds = self.piece.tags.kind[tags[chosen]]
            for kind in np.unique(kinds):
                which = chosen[kinds == kind]
                for column, array, places in self._column(
                    prefix + key, int(kind), which, tags, owners, texts
                ):
                    _add(made, column, _spread(array, places, count))
        return made

    def _column(
        self, name: str, kind: int, which: Ints, tags: Ints, owners: Ints, texts: pa.Array
    ) -> Iterator[tuple[tuple[str, str], pa.Array, Ints]]:
        """The columns of attributes with one key and one type: their values, and what is nested."""
        here = tags[which]
        change = self.piece.tags.change
        inner = (change[here] == 1) & (change[here + 1] >= 0)
        if kind in _COMPOSITE or inner.any():
            deep = which if kind in _COMPOSITE else which[inner]
            yield from self._deep(name, kind, deep, tags, owners)
            if kind in _COMPOSITE:
                return
        stated = self.reading.kinds.get(name)
        cells = texts.take(pa.array(which))
        if stated is not None:
            made, faults = typed(cells, stated, self.reading.timezone, self.reading.decimal)
            of = "stated"
        else:
            of = KIND_OF[_NAME_OF[kind]]
            made, faults = values(of, cells, self.reading.timezone, self.zone)
        if cells.null_count:
            none = ValueFault("an attribute with a value", "none", 'value="..."')
            faults = faults + [(int(i), none) for i in np.flatnonzero(cells.is_null())]
        for index, fault in faults:
            self._fault(which[index], tags, owners, name, str(fault))
        yield (name, of), made, owners[which]

    def _deep(
        self, name: str, kind: int, which: Ints, tags: Ints, owners: Ints
    ) -> Iterator[tuple[tuple[str, str], pa.Array, Ints]]:
        """Attributes one by one that have something inside."""
        listed: list[str | None] = []
        inside: list[str | None] = []
        for index in which:
            try:
                given = element(self._span(int(tags[index])))
                is_list = kind in _COMPOSITE
                listed.append(canonical(own_value(given, self.zone)) if is_list else None)
                found = nested(given, self.zone)
                inside.append(canonical(found) if found else None)
            except ValueFault as fault:
                listed = [*listed, None][: len(inside) + 1]
                inside.append(None)
                self._fault(index, tags, owners, name, str(fault))
        if kind in _COMPOSITE:
            yield (name, "any"), pa.array(listed, pa.string()), owners[which]
        if any(text is not None for text in inside):
            yield (name + NESTED, "nested"), pa.array(inside, pa.string()), owners[which]

    def _span(self, tag: int) -> bytes:
        """The bytes of an element from its start to its end."""
        tags = self.piece.tags
        end = self._end(tag) if tags.change[tag] == 1 else tag
        start = int(tags.at[tag])
        stop = int(tags.at[end + 1]) if end + 1 < len(tags.at) else tags.ends
        return tags.data[start : tags.data.rindex(b">", start, stop) + 1]

    def _end(self, tag: int) -> int:
        """The end tag of an element; looked for from near to far, as most are short."""
        before, change = self.piece.before, self.piece.tags.change
        begin, many = tag + 1, 64
        while begin < len(before):
            some = slice(begin, min(begin + many, len(before)))
            closed = before[some] + change[some] <= before[tag]
            if closed.any():
                return begin + int(np.argmax(closed))
            begin, many = begin + many, 4 * many
        return tag + 1

    def _once(self, chosen: Ints, tags: Ints, owners: Ints, column: str) -> Ints:
        """Leave out what one owner has twice."""
        twice = np.flatnonzero(np.diff(owners[chosen]) == 0)
        if not len(twice):
            return chosen
        mine = owners[chosen]
        again = set(mine[twice].tolist())
        problem = "expected each key once in an event or trace; got it twice; try renaming one"
        for owner in sorted(again):
            first = int(chosen[np.searchsorted(mine, owner)])
            self._fault(first, tags, owners, column, problem)
        return chosen[[owner not in again for owner in mine.tolist()]]

    def _texts(self, tags: Ints, spans: tuple[Ints, Ints], what: str) -> pa.Array:
        """The texts at these places, without copying more than once; null where there is none."""
        begin, end = spans[0][tags], spans[1][tags]
        absent = begin < 0
        if absent.any():
            if what == "key":
                tag = int(tags[absent][0])
                where = f"{self.name}, line {self.piece.line_of(tag)}"
                msg = f'{where}: expected an attribute with a key; got none; try key="..."'
                raise LogError(msg)
            at = self.piece.tags.at[tags]
            begin, end = np.where(absent, at, begin), np.where(absent, at, end)
        longest = int((end - begin).argmax())
        if end[longest] - begin[longest] > self.reading.limits.text:
            where = f"{self.name}, line {self.piece.line_of(int(tags[longest]))}"
            raise self.reading.limits.exceeded("text", where)
        offsets = np.empty(2 * len(tags), np.int32)
        offsets[0::2], offsets[1::2] = begin, end
        data = pa.py_buffer(self.piece.tags.data)
        every = pa.Array.from_buffers(
            pa.string(), len(offsets) - 1, [None, pa.py_buffer(offsets), data]
        )
        made = every.take(pa.array(np.arange(0, len(offsets), 2)))
        special = np.searchsorted(self._special, begin) != np.searchsorted(self._special, end)
        if special.any():
            mended = [decoded(text) for text in made.filter(pa.array(special)).to_pylist()]
            made = pc.replace_with_mask(made, pa.array(special), pa.array(mended, pa.string()))
        return pc.if_else(pa.array(absent), None, made) if absent.any() else made

    def _fault(self, index: int, tags: Ints, owners: Ints, column: str, problem: str) -> None:
        line = self.piece.line_of(int(tags[index]))
        self.faults.append((int(owners[index]), line, column, problem))

    def _where(self, tags: Ints, owners: Ints, owner: int) -> str:
        return f"{self.name}, line {self.piece.line_of(int(tags[np.searchsorted(owners, owner)]))}"


def _add(made: Columns, column: tuple[str, str], array: pa.Array) -> None:
    made[column] = pc.coalesce(made[column], array) if column in made else array


def _spread(array: pa.Array, places: Ints, count: int) -> pa.Array:
    """Values at their places among this many rows; null elsewhere."""
    if len(array) == count:
        return array
    index = np.full(count, -1, np.int64)
    index[places] = np.arange(len(places))
    return array.take(pa.array(index, mask=index < 0))
