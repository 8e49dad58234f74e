"""Never matters: which input events does no output need?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from whence.store.catalog import find_run
from whence.store.connection import Connection
from whence.store.cypher import cypher
from whence.store.places import merge
from whence.store.questions.answers import Coverage, LogShare, coverage_of, log_shares
from whence.store.questions.whole import all_outputs, require_whole
from whence.store.verbs import ends, up

__all__ = ["NeverMatters", "never_matters"]

QUERIES = ("edges_up", "up_explains", "up_supports", "spans_up", "heads_up", "end_leans")


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
    """

    run: str
    certain: tuple[LogShare, ...]
    softer: tuple[LogShare, ...]
    coverage: Coverage
    cypher: Mapping[str, str] = field(repr=False)


def never_matters(connection: Connection, run: str, *, record: Path | None = None) -> NeverMatters:
    """Ask which input events never mattered in a run.

    Args:
        connection: where the graph is.
        run: the run's id, or ``latest``.
        record: where the record is, if not where records usually are; see `find_run`.
    """
    graph = find_run(connection, run, record)
    require_whole(graph, connection)
    outputs = all_outputs(graph)
    needed = up(connection, graph, outputs, support=True)
    merge(needed, ends(connection, graph, graph.ends))
    explaining = up(connection, graph, outputs)
    return NeverMatters(
        graph.id,
        log_shares(graph.logs, needed, but=True),
        log_shares(graph.logs, explaining, but=True),
        coverage_of(graph, graph.outputs),
        {name: cypher(name) for name in QUERIES},
    )
