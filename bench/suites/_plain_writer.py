"""The graph as one would write it without much thought: nodes, then relationships, all by MERGE."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from whence.store import Connection
from whence.store.loading.content import ChunkContent

__all__ = ["write_plainly"]

WRITERS, ROWS = 2, 5000

_LABELS = {"inputs": "Event:Input", "outputs": "Event:Output", "events": "Event"}
_NODES = "UNWIND $rows AS row MERGE (e:Event {{key: row.key}}) SET e:{labels}, e += row"
_EDGES = """
UNWIND $rows AS row
MATCH (o:{source} {{key: row.key}}) MATCH (i:Event {{key: row.to}})
MERGE (o)-[r:{type}]->(i) SET r += row.with
"""
_SPANS = """
UNWIND $rows AS row
MATCH (t:Collection {{no: row.to}})
MERGE (s:Span {{no: row.span.no, lo: row.span.lo, hi: row.span.hi}})
MERGE (s)-[r:{type}]->(t) SET r += row.with
"""
_HEADS = "UNWIND $rows AS row MATCH (e:Event {key: row.key}) SET e:Span, e += row.span"

Statement = tuple[str, list[dict[str, Any]]]


def write_plainly(connection: Connection, contents: Callable[[], Iterator[ChunkContent]]) -> None:
    """Write what chunks hold: two writers, 5,000 rows a transaction.

    Args:
        connection: the graph; its constraints, logs and streams are there.
        contents: the chunks, as often as they are requested.
    """
    for statements in (_nodes, _relationships):
        with ThreadPoolExecutor(WRITERS) as pool:
            waiting = []
            for content in contents():
                for text, rows in statements(content):
                    for at in range(0, len(rows), ROWS):
                        some = rows[at : at + ROWS]
                        waiting.append(pool.submit(connection.write, text, rows=some))
                while len(waiting) > 2 * WRITERS:
                    waiting.pop(0).result()
            for each in waiting:
                each.result()


def _nodes(content: ChunkContent) -> Iterator[Statement]:
    yield _NODES.format(labels=_LABELS[content.label]), content.events
    yield _NODES.format(labels="Choice"), content.choices


def _relationships(content: ChunkContent) -> Iterator[Statement]:
    literal = (
        ("wasDerivedFrom", "Event", content.derived),
        ("wasInfluencedBy", "Event", content.influenced),
        ("wasInfluencedBy", "End", content.end),
    )
    for type, source, rows in literal:
        single = [{**row, "to": to} for row in rows for to in row["to"]]
        yield _EDGES.format(type=type, source=source), single
    yield _SPANS.format(type="wasDerivedFrom"), content.derived_spans
    yield _SPANS.format(type="wasInfluencedBy"), content.influenced_spans
    yield _HEADS, content.heads
