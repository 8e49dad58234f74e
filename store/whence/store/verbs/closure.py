"""Up and down: rounds of literal edges and spans, until nothing is new."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import overload

from whence.engine.lineage.association import Association
from whence.engine.lineage.positions import Range, meeting
from whence.store.catalog import RunGraph, StoredStream
from whence.store.connection import Connection
from whence.store.cypher import cypher
from whence.store.places import (
    LAST_POSITION,
    Places,
    key_of,
    merge,
    no_of,
    places_of_keys,
    position_of,
)
from whence.store.verbs.choices import Gate
from whence.store.verbs.literal import FEW, Literal, key_ranges
from whence.store.verbs.packed_chunks import PackedChunks
from whence.store.verbs.spans import bands_to, gathered, leads_back, reached_up, spans_of

__all__ = ["down", "ends", "up", "up_if_few"]

SINGLE_SEEKS = 1000


def up(
    connection: Connection,
    run: RunGraph,
    start: Places,
    *,
    support: bool = False,
    few: int = FEW,
    every: bool = False,
    packed: PackedChunks | None = None,
    of: Collection[int] | None = None,
) -> Places:
    """Everything that explains, or supports, some events; they themselves are part of it.

    Args:
        connection: where the graph is.
        run: the run they belong to.
        start: the events.
        support: follow what supports instead of what explains.
        few: from so many events on edges are read rather than walked by the server.
        every: follow every option of a choice, not only the first.
        packed: the run's chunks as far as they were read before, where several things are asked.
        of: the logs and streams in question; places of others need not be told.
    """
    found = up_if_few(connection, run, start, support=support, few=few, every=every)
    if found is not None:
        return found
    columns = packed or PackedChunks(connection, run)
    reached = columns.reach(start, support=support, every=every, of=of)
    if reached is not None:
        return reached
    return _walked(
        Literal(connection, run, support=support, down=False, few=few, every=every), start
    )


def up_if_few(
    connection: Connection,
    run: RunGraph,
    start: Places,
    *,
    support: bool = False,
    few: int = FEW,
    every: bool = False,
) -> Places | None:
    """As `up`, from few events by few events; nothing if many are met on the way.

    Args:
        connection: where the graph is.
        run: the run they belong to.
        start: the events.
        support: follow what supports instead of what explains.
        few: so many are few; heads of slices always are many.
        every: follow every option of a choice, not only the first.
    """
    literal = Literal(connection, run, support=support, down=False, few=few, every=every)
    return _walked(literal, start, few)


@overload
def _walked(literal: Literal, start: Places) -> Places: ...


@overload
def _walked(literal: Literal, start: Places, few: int) -> Places | None: ...


def _walked(literal: Literal, start: Places, few: int | None = None) -> Places | None:
    """Rounds of literal edges and spans; nothing if a round begins with more than few events."""
    connection, run = literal.connection, literal.run
    heads = {stream.no for stream in run.streams if stream.role.is_heads}
    how = {"support": literal.support, "every": literal.every}
    seen: Places = {}
    waiting = start
    while new := merge(seen, waiting):
        ahead = {no: ranges for no, ranges in new.items() if no in run.event_streams}
        if few is not None and (heads & new.keys() or _many(ahead, few)):
            return None
        merge(new, merge(seen, literal.reach(new)))
        waiting = reached_up(spans_of(connection, run, new, **how), run, new)
    return seen


def down(
    connection: Connection,
    run: RunGraph,
    start: Places,
    *,
    support: bool = False,
    few: int = FEW,
    every: bool = False,
    packed: PackedChunks | None = None,
    of: Collection[int] | None = None,
) -> Places:
    """Everything that some events explain, or support; they themselves are part of it.

    Args:
        connection: where the graph is.
        run: the run whose events are asked for.
        start: the events, usually inputs.
        support: follow what supports instead of what explains.
        few: from so many events on edges are read rather than walked by the server.
        every: a choice is reached when each of its options is; else when the first one is.
        packed: the run's chunks as far as they were read before, where several things are asked.
        of: the logs and streams in question; places of others need not be told.
    """
    gate = Gate(connection, run) if every else None
    literal = Literal(connection, run, support=support, down=True, few=few, gate=gate)
    bands: dict[int, list[Association]] = {}
    seen: Places = {}
    waiting = start
    walks = every  # columns do not know when each option of a choice is reached
    while new := merge(seen, waiting):
        if not walks and _many(new, few):
            walks = True
            columns = packed or PackedChunks(connection, run)
            found = columns.reach(start, down=True, support=support, of=of)
            if found is not None:
                return found
        merge(new, merge(seen, literal.reach(new)))
        unknown = [no for no in new if no not in bands]
        if unknown:
            bands.update({no: [] for no in unknown})
            for row in bands_to(connection, run, unknown, support=support, every=every):
                bands[run.numbers[row.to]].append(row)
        pieces = [
            (source, piece)
            for no, ranges in new.items()
            for row in bands[no]
            for source in (run.numbers[row.stream],)
            for lo, hi in ranges
            if (piece := leads_back(row, lo, hi)) is not None
            and (gate is None or _passes(gate, source, row, piece))
        ]
        waiting = gathered([*pieces, *_heads(connection, run, new)])
    return seen


def _passes(gate: Gate, no: int, row: Association, piece: Range) -> bool:
    """Whether a band leads on: the way through a choice is open only if each option is touched."""
    if not gate.holds(no):
        return True
    return gate.opens(key_of(no, piece[0]), row.witness or ())


def ends(
    connection: Connection,
    run: RunGraph,
    pipes: tuple[StoredStream, ...],
    packed: PackedChunks | None = None,
) -> Places:
    """What the ends of output pipes lean on: the inputs among it are *open*.

    Args:
        connection: where the graph is.
        run: the run.
        pipes: streams of role ``end``.
        packed: the run's chunks as far as they were read before, where several things are asked.
    """
    at_end: Places = {pipe.no: ((0, 0),) for pipe in pipes}
    if packed is not None:
        inputs = [log.no for log in run.logs]
        open_inputs = packed.reach(at_end, support=True, of=inputs)
        if open_inputs is not None:
            return open_inputs
    keys = [key_of(pipe.no, 0) for pipe in pipes]
    direct = [key for (key,) in connection.read_values(cypher("end_leans"), keys=keys)]
    found = places_of_keys(direct)
    merge(found, reached_up(spans_of(connection, run, at_end, support=True), run, at_end))
    return up(connection, run, found, support=True)


def _many(places: Places, few: int) -> bool:
    """Whether there are more events than the server would walk from."""
    return sum(hi - lo + 1 for ranges in places.values() for lo, hi in ranges) > few


def _heads(connection: Connection, run: RunGraph, places: Places) -> Iterator[tuple[int, Range]]:
    """Where events inside a Slice are the heads of their slices."""
    inner = {no: places[no] for no in places if _is_inner(run, no)}
    if not inner:
        return
    ranges = key_ranges(inner)
    if len(ranges) > SINGLE_SEEKS:
        # So many single seeks cost more than reading all that lies between.
        ranges = [[key_of(no, r[0][0]), key_of(no, r[-1][1])] for no, r in inner.items()]
    for row in connection.read(cypher("heads_down"), ranges=ranges):
        position = position_of(row["key"])
        if any(meeting(inner[no_of(row["key"])], position, position)):
            yield row["no"], (row["lo"], LAST_POSITION if row["hi"] is None else row["hi"])


def _is_inner(run: RunGraph, no: int) -> bool:
    stream = run.event_streams.get(no)
    return stream is not None and stream.role.is_inner
