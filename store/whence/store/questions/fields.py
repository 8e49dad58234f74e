"""Which fields of the input events matter: worked out along the edges that an answer rests on.

An edge names the fields that it asks for. A *copy* passes on what was asked of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import overload

from whence.engine.lineage.association import LOG_PREFIX, Association, Relation
from whence.engine.lineage.positions import Intervals, Positions, Range, joined
from whence.engine.lineage.rows import lineage_of_rows
from whence.store.catalog import RunGraph
from whence.store.connection import Connection
from whence.store.cypher import cypher
from whence.store.places import Places, no_of, position_of
from whence.store.questions.answers import InputRange
from whence.store.verbs import PackedChunks, up
from whence.store.verbs.literal import key_ranges
from whence.store.verbs.spans import relation_of, spans_of

__all__ = ["Derivations", "asked_inputs", "asked_of", "asked_up", "by_log", "derivations"]

Asked = frozenset[str] | None
_Place = tuple[str, Asked]
"""A log or stream, and the fields asked of its events."""


class Derivations(Sequence[Association]):
    """The associations that an answer rests on, read when somebody looks at them.

    An output may rest on as many events as there are cases, and most who ask want to know how many
    they are and see the first. They are read from the graph while its connection is open.
    """

    def __init__(self, read: Callable[[], Iterable[Association]]) -> None:
        """Say how they are read."""
        self._read = read

    @cached_property
    def _rows(self) -> tuple[Association, ...]:
        return tuple(self._read())

    def __len__(self) -> int:
        """How many there are."""
        return len(self._rows)

    def __eq__(self, other: object) -> bool:
        """Whether the same associations are in both, in whatever order they were read."""
        return isinstance(other, Sequence) and Counter(self) == Counter(other)

    __hash__ = None  # type: ignore[assignment]

    @overload
    def __getitem__(self, at: int) -> Association: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Association]: ...

    def __getitem__(self, at: int | slice) -> Association | Sequence[Association]:
        """One of them, or some."""
        return self._rows[at]


def derivations(
    connection: Connection, run: RunGraph, reached: Places, *, support: bool, every: bool = False
) -> list[Association]:
    """Every association that leads on from what was reached, as the record would write it.

    Args:
        connection: where the graph is.
        run: the run.
        reached: all places that the answer rests on.
        support: what supports instead of what explains.
        every: by every option of a choice, not only the first.
    """
    sources = {no: ranges for no, ranges in reached.items() if no in run.event_streams}
    told = connection.read_values(
        cypher("edges_told"),
        ranges=key_ranges(sources),
        trigger=not support,
        supports=support,
        every=every,
    )
    rows: list[Association] = []
    for source, type, trigger, fields, copy, witness, targets in told:
        relation: Relation = relation_of(type, trigger)
        for to in sorted({no_of(key) for key in targets}):
            rows.append(
                Association(
                    run.by_no[no_of(source)].name,
                    relation,
                    "list",
                    position_of(source),
                    position_of(source),
                    run.name_in_record(to),
                    tuple(sorted(position_of(key) for key in targets if no_of(key) == to)),
                    fields=None if fields is None else tuple(fields),
                    copy=bool(copy),
                    witness=None if witness is None else tuple(witness),
                )
            )
    return rows + spans_of(connection, run, reached, support=support, every=every)


def asked_up(
    connection: Connection,
    run: RunGraph,
    start: Places,
    *,
    support: bool,
    packed: PackedChunks,
) -> tuple[InputRange, ...]:
    """The input events that some events rest on, with the fields that matter.

    Args:
        connection: where the graph is.
        run: the run.
        start: the events.
        support: what supports instead of what explains.
        packed: the run's chunks as far as they were read before.
    """
    logs = {log.no: LOG_PREFIX + log.name for log in run.logs}
    found = packed.reach_fields(start, support=support, of=logs)
    if found is not None:
        return by_log(run, {(logs[no], asked): list(at) for (no, asked), at in found.items()})
    reached = up(connection, run, start, support=support, packed=packed)
    rows = derivations(connection, run, reached, support=support)
    named = {run.by_no[no].name: ranges for no, ranges in start.items()}
    return asked_of(run, rows, named)


def asked_inputs(
    run: RunGraph, rows: Iterable[Association], stream: str, position: int
) -> tuple[InputRange, ...]:
    """The input events that an event rests on, with the fields that matter.

    Args:
        run: the run.
        rows: the associations that lead there.
        stream: the event's stream.
        position: its position.
    """
    return asked_of(run, rows, {stream: ((position, position),)})


def asked_of(
    run: RunGraph, rows: Iterable[Association], start: Mapping[str, Intervals]
) -> tuple[InputRange, ...]:
    """The same for several events.

    Args:
        run: the run.
        rows: the associations that lead there.
        start: the events, by stream.
    """
    told = list(rows)
    support = any(row.relation == "supports" for row in told)
    begin = {stream: Positions.of_intervals(ranges) for stream, ranges in start.items()}
    found = lineage_of_rows(told).up_fields(begin, support=support)
    return by_log(run, {place: list(at.intervals) for place, at in found.items()})


def by_log(run: RunGraph, inputs: dict[_Place, list[Range]]) -> tuple[InputRange, ...]:
    """What was reached of the logs, with the fields that matter; of streams nothing is told."""
    answer: list[InputRange] = []
    for log in run.logs:
        layers: dict[Asked, list[Range]] = {}
        for (name, asked), ranges in inputs.items():
            if name == LOG_PREFIX + log.name:
                # A plain value has no fields; any that is asked of it is all of it.
                layers.setdefault(None if asked and log.plain else asked, []).extend(ranges)
        answer += [
            InputRange(log.name, lo, hi, None if asked is None else tuple(sorted(asked)))
            for lo, hi, asked in _overlaid({a: joined(ranges) for a, ranges in layers.items()})
        ]
    return tuple(answer)


def _overlaid(layers: dict[Asked, Intervals]) -> Iterable[tuple[int, int, Asked]]:
    """Put ranges over each other: where several meet, all their fields matter."""
    changes: dict[int, list[tuple[Asked, int]]] = {}
    for asked, ranges in layers.items():
        for lo, hi in ranges:
            changes.setdefault(lo, []).append((asked, 1))
            changes.setdefault(hi + 1, []).append((asked, -1))
    active: Counter[Asked] = Counter()
    pieces: list[tuple[int, int, Asked]] = []
    places = sorted(changes)
    for at, following in pairwise(places):
        for asked, step in changes[at]:
            active[asked] += step
        now = [asked for asked, times in active.items() if times]
        if not now:
            continue
        union = None if None in now else frozenset().union(*(a for a in now if a is not None))
        if pieces and pieces[-1][1] == at - 1 and pieces[-1][2] == union:
            pieces[-1] = (pieces[-1][0], following - 1, union)
        else:
            pieces.append((at, following - 1, union))
    return pieces
