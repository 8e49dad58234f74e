"""Never matters: which input events does no output need?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from whence.engine.errors import ParameterError
from whence.engine.lineage.positions import Intervals, count, joined
from whence.store.catalog import RunGraph, StoredLog, find_run
from whence.store.connection import Connection
from whence.store.cypher import cypher
from whence.store.places import Places, key_of, merge
from whence.store.questions.answers import (
    Coverage,
    InputRange,
    LogShare,
    coverage_of,
    log_shares,
)
from whence.store.questions.fields import asked_up
from whence.store.questions.in_record import columns_in_record
from whence.store.questions.stepwise import chain_of
from whence.store.questions.whole import all_outputs, log_is_whole, require_whole
from whence.store.questions.widening import key_fields
from whence.store.verbs import WALKED_UP, PackedChunks, ends, up

__all__ = ["By", "GroupShare", "NeverMatters", "never_matters"]

QUERIES = ("packed_bounds", "packed_read", *WALKED_UP, "up_supports", "end_leans")


By = Literal["case", "activity", "field"]


@dataclass(frozen=True)
class GroupShare:
    """How much of a case, an activity or a field never mattered.

    Attributes:
        log: the log's name.
        group: the case or activity (``None``: events without), or the field's name.
        certain: how many of the events certainly never mattered; of a field, in how many events it
            did not, although the event may have.
        softer: how many explain no output.
        length: how many events there are.
        given: of a field: it is a slice key, which is taken as given; nothing is said of it.
    """

    log: str
    group: Any
    certain: int
    softer: int
    length: int
    given: bool = False


@dataclass(frozen=True)
class NeverMatters:
    """Input events that no output needs.

    Attributes:
        run: the run's id.
        certain: in no output's support, and not open: changing one of them changes nothing here.
            With outputs that were not tracked this holds for the tracked ones alone.
        softer: they explain no output of the chain.
        coverage: how much of the run was tracked.
        cypher: the queries that were used, by name.
        by: by what the groups are.
        groups: the same by case, activity or field, if that was asked for.
    """

    run: str
    certain: tuple[LogShare, ...]
    softer: tuple[LogShare, ...]
    coverage: Coverage
    cypher: Mapping[str, str] = field(repr=False)
    by: By | None = None
    groups: tuple[GroupShare, ...] = ()


def never_matters(
    connection: Connection, run: str, *, by: By | None = None, record: Path | None = None
) -> NeverMatters:
    """Ask which input events never mattered in a run.

    Args:
        connection: where the graph is.
        run: the run's id, or ``latest``.
        by: ``case``, ``activity`` or ``field``: say it of each of these as well.
        record: where the record is, if not where records usually are; see `find_run`.
    """
    if by not in (None, "case", "activity", "field"):
        msg = f"never-matters: expected by case, activity or field; got {by!r}; try case"
        raise ParameterError(msg)
    graph = find_run(connection, run, record)
    require_whole(graph, connection)
    outputs = all_outputs(graph)
    packed = PackedChunks(connection, graph)
    inputs = [log.no for log in graph.logs]
    needed = up(connection, graph, outputs, support=True, packed=packed, of=inputs)
    held = ends(connection, graph, graph.ends, packed)
    explaining = up(connection, graph, outputs, packed=packed, of=inputs)
    groups: tuple[GroupShare, ...] = ()
    queries: tuple[str, ...] = QUERIES
    if by == "field":
        queries = (*queries, "edges_told")
        groups = tuple(_by_field(connection, graph, packed, held))
    merge(needed, held)
    certain = log_shares(graph.logs, needed, but=True)
    softer = log_shares(graph.logs, explaining, but=True)
    if by in ("case", "activity"):
        queries = (*queries, "inputs_grouped")
        groups = tuple(_by_column(connection, graph, by, certain, softer, record))
    return NeverMatters(
        graph.id,
        certain,
        softer,
        coverage_of(graph, graph.outputs),
        {name: cypher(name) for name in queries},
        by,
        groups,
    )


def _by_column(
    connection: Connection,
    run: RunGraph,
    by: str,
    certain: Sequence[LogShare],
    softer: Sequence[LogShare],
    record: Path | None,
) -> Iterator[GroupShare]:
    mapped = [log for log in run.logs if by in log.mapped]
    if not mapped:
        names = ", ".join(log.name for log in run.logs)
        msg = (
            f"never-matters by {by}: expected a log whose {by} is mapped; got {names} without; "
            f"try whence run --{by} COLUMN, or --by field"
        )
        raise ParameterError(msg)
    for log, sure, soft in zip(run.logs, certain, softer, strict=True):
        if log not in mapped or not log.length:
            continue
        whole = log_is_whole(connection, run, log)
        counts = [
            _grouped(connection, log.no, ranges, by)
            if whole
            else _grouped_in_record(run, log, ranges, by, record)
            for ranges in (sure.ranges, soft.ranges, ((0, log.length - 1),))
        ]
        for group, length in counts[2].items():
            yield GroupShare(
                log.name, group, counts[0].get(group, 0), counts[1].get(group, 0), length
            )


def _grouped(connection: Connection, no: int, ranges: Intervals, by: str) -> dict[Any, int]:
    keys = [[key_of(no, lo), key_of(no, hi)] for lo, hi in ranges]
    rows = connection.read(cypher("inputs_grouped"), ranges=keys, by=by)
    return {row["group"]: row["events"] for row in rows}


def _grouped_in_record(
    run: RunGraph, log: StoredLog, ranges: Intervals, by: str, record: Path | None
) -> dict[Any, int]:
    """The same where not all events of the log are in the graph."""
    return Counter(row.get(by) for _, row in columns_in_record(run, log, ranges, record))


def _by_field(
    connection: Connection, run: RunGraph, packed: PackedChunks, held: Places
) -> Iterator[GroupShare]:
    """How often each column mattered. An open event counts with all its fields."""
    given = key_fields(chain_of(connection, run.id))
    asked = [
        asked_up(connection, run, all_outputs(run), support=support, packed=packed)
        for support in (True, False)
    ]
    for log in run.logs:
        for name in log.columns:
            matters = [
                joined((e.lo, e.hi) for e in each if e.log == log.name and _names(e, name))
                for each in asked
            ]
            matters[0] = joined((*matters[0], *held.get(log.no, ())))
            certain, softer = (log.length - count(ranges) for ranges in matters)
            yield GroupShare(log.name, name, certain, softer, log.length, name in given)


def _names(inputs: InputRange, field: str) -> bool:
    return inputs.fields is None or field in inputs.fields
