"""Impact: which outputs stand, if some input events are corrupt?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from whence.engine.lineage.positions import Intervals, minus, overlap
from whence.store.catalog import RunGraph, StoredStream, find_run
from whence.store.connection import Connection
from whence.store.cypher import cypher
from whence.store.places import Places, key_of, merge, places_of_keys
from whence.store.questions.answers import (
    Coverage,
    LogShare,
    OutputShare,
    coverage_of,
    log_shares,
)
from whence.store.questions.selecting import Inputs, Selection, select
from whence.store.questions.stepwise import chain_of
from whence.store.questions.whole import require_whole
from whence.store.questions.widening import Doubts, Widened, widen
from whence.store.verbs import PackedChunks, down, ends

__all__ = ["Impact", "Inputs", "impact"]

QUERIES = (
    *("packed_bounds", "packed_read", "down_explains", "down_supports", "edges_down"),
    *("bands_down", "heads_down", "end_leans"),
)
CHOOSING = ("edges_down_all", "choices_read")


@dataclass(frozen=True)
class Impact:
    """What some corrupt input events touch.

    Attributes:
        run: the run's id.
        inputs: the input events in question.
        unaffected: outputs that stand, guaranteed: no corrupt input is in their support; with all
            alternatives kept, in that of one of them.
        possibly: outputs that may be affected.
        explained: those of them that a corrupt input explains.
        untracked: outputs of which nothing is known, because they were not tracked.
        may_appear: pipes on which outputs could appear that do not exist now.
        coverage: how much of the run was tracked.
        cypher: the queries that were used, by name.
        doubts: what of the corrupt events was in doubt beside their values.
    """

    run: str
    inputs: tuple[LogShare, ...]
    unaffected: tuple[OutputShare, ...]
    possibly: tuple[OutputShare, ...]
    explained: tuple[OutputShare, ...]
    untracked: tuple[OutputShare, ...]
    may_appear: tuple[str, ...]
    coverage: Coverage
    cypher: Mapping[str, str] = field(repr=False)
    doubts: tuple[str, ...] = ()


def impact(
    connection: Connection,
    run: str,
    inputs: Inputs | Selection,
    *,
    keys_corrupt: bool = False,
    order_corrupt: bool = False,
    missing_corrupt: bool = False,
    record: Path | None = None,
) -> Impact:
    """Ask what stands if some input events are corrupt.

    Args:
        connection: where the graph is.
        run: the run's id, or ``latest``.
        inputs: the events, as ranges of positions by log, or as a `Selection`.
        keys_corrupt: their slice keys are in doubt too: they may belong to other slices.
        order_corrupt: their places are in doubt too: they may stand anywhere in their log.
        missing_corrupt: values may be missing that are there, or there that are missing.
        record: where the record is, if not where records usually are; see `find_run`.
    """
    graph = find_run(connection, run, record)
    require_whole(graph, connection)
    chosen = inputs if isinstance(inputs, Selection) else Selection(inputs)
    asked = start = select(connection, graph, chosen, record)
    doubts = Doubts(keys_corrupt, order_corrupt, missing_corrupt)
    wider = Widened(start, {}, frozenset())
    if doubts.names:
        wider = widen(connection, graph, chain_of(connection, graph.id), start, doubts)
        start = wider.start
    # With all alternatives kept, one that is untouched is enough for an output to stand.
    every = graph.keeps_alternatives
    packed = PackedChunks(connection, graph)
    pipes = [pipe.no for pipe in graph.outputs]
    touched = down(connection, graph, start, support=True, every=every, packed=packed, of=pipes)
    merge(touched, dict(wider.outputs))
    explained = down(connection, graph, asked, packed=packed, of=pipes)
    shares: dict[str, list[OutputShare]] = {}
    for pipe in graph.outputs:
        for name, ranges in _sorted_out(connection, graph, pipe, touched, explained).items():
            shares.setdefault(name, []).append(OutputShare(pipe.name, ranges, pipe.length))
    return Impact(
        run=graph.id,
        inputs=log_shares(graph.logs, asked, but=False),
        unaffected=tuple(shares.get("unaffected", ())),
        possibly=tuple(shares.get("possibly", ())),
        explained=tuple(shares.get("explained", ())),
        untracked=tuple(shares.get("untracked", ())),
        may_appear=tuple(_may_appear(packed, start, wider.may_appear, connection)),
        coverage=coverage_of(graph, graph.outputs),
        cypher={name: cypher(name) for name in (*QUERIES, *(CHOOSING if every else ()))},
        doubts=doubts.names,
    )


def _sorted_out(
    connection: Connection,
    run: RunGraph,
    pipe: StoredStream,
    touched: Places,
    explained: Places,
) -> dict[str, Intervals]:
    whole: Intervals = ((0, pipe.length - 1),) if pipe.length else ()
    untracked: Intervals = ()
    if run.options.where is not None and whole:
        first, last = key_of(pipe.no, 0), key_of(pipe.no, pipe.length - 1)
        rows = connection.read_values(cypher("tracked_read"), first=first, last=last)
        tracked = places_of_keys(key for (key,) in rows).get(pipe.no, ())
        untracked = minus(whole, tracked)
    possibly = overlap(whole, touched.get(pipe.no, ()))
    return {
        "unaffected": minus(minus(whole, possibly), untracked),
        "possibly": possibly,
        # An output that no corrupt input supports stands, even if one explains it.
        "explained": overlap(possibly, explained.get(pipe.no, ())),
        "untracked": minus(untracked, possibly),
    }


def _may_appear(
    packed: PackedChunks, start: Places, wider: frozenset[str], connection: Connection
) -> Iterable[str]:
    run = packed.run
    for end in run.ends:
        name = end.name.removesuffix("/end")
        open_inputs = ends(connection, run, (end,), packed)
        meet = (overlap(start.get(log.no, ()), open_inputs.get(log.no, ())) for log in run.logs)
        if name in wider or any(meet):
            yield name
