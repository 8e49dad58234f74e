"""Write one chunk: everything and its marker in one transaction, or nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from whence.engine.errors import StoreError
from whence.store.connection import Connection, run_cypher
from whence.store.cypher import cypher
from whence.store.loading.content import ChunkContent, Row
from whence.store.loading.near import Near, derived_rows, near_edges

if TYPE_CHECKING:
    from neo4j import ManagedTransaction

__all__ = ["ROWS", "chunk_id", "is_conflict", "loaded_chunks", "marker_of", "write_chunk"]

ROWS = 5000
"""Rows a statement: more take longer a row, fewer cost round trips."""

LITERAL = ("derived", "influenced", "end")
SPANS = ("derived_spans", "influenced_spans")
NEAR = "_near"
"""What the name of a statement ends with that reads events close together at once."""

_Edges = list[list[Any]]
_Statement = tuple[str, Sequence[Any], int, dict[str, Any]]
"""Its name, its rows, how much it has to say that it wrote, and its other parameters."""


def chunk_id(kind: str, owner: str, part: int, stream: str | None = None) -> str:
    """The id of a chunk's marker: ``log/ID/3``, ``run/ID/total/0``."""
    middle = "" if stream is None else f"{stream}/"
    return f"{kind}/{owner}/{middle}{part}"


def loaded_chunks(connection: Connection, kind: str, owner: str) -> set[str]:
    """The ids of the chunks of a log or run that are in the graph."""
    return {row["id"] for row in connection.read(cypher("chunks_read"), prefix=f"{kind}/{owner}/")}


def marker_of(id: str, content: ChunkContent) -> dict[str, Any]:
    """The properties of a chunk's marker."""
    packed, bounds = content.packed()
    return {
        "id": id,
        "events": len(content.events) + len(content.choices) + len(content.inner),
        "spans": content.spans,
        "heads": len(content.heads),
        "edges": content.edges,
        "digest": content.digest(),
        "owns": content.owns,
        "packed": packed,
        "bounds": bounds,
        "selected": content.selected or None,
        "keys": (content.keys or None) if content.selected else None,
        "merged": content.merged_keys or None,
    }


def write_chunk(connection: Connection, id: str, content: ChunkContent) -> bool:
    """Write a chunk; say whether it was not there yet.

    Raises:
        StoreError: something that an edge leads to is not in the graph; then nothing is written.
    """
    marker = marker_of(id, content)
    try:
        try:
            return _transact(connection, marker, list(_statements(content)))
        except _NotWholeError:
            return _transact(connection, marker, list(_statements(content, near=False)))
    except StoreError as error:
        if content.label != "inputs" or not is_conflict(error):
            raise
    # Some of the log's events are there already, with outputs that were selected.
    merged = ("merged", content.events, len(content.events), {"kind": "inputs"})
    return _transact(connection, marker, [merged])


class _NotWholeError(Exception):
    """Events that lie between those that edges lead to are not there; nothing is written."""


def is_conflict(error: StoreError) -> bool:
    """Whether something was there already that a chunk was to make."""
    code = getattr(error.__cause__, "code", None)
    return bool(code == "Neo.ClientError.Schema.ConstraintValidationFailed")


def _transact(
    connection: Connection, marker: dict[str, Any], statements: Sequence[_Statement]
) -> bool:

    def work(transaction: ManagedTransaction) -> bool:
        def run(name: str, parameters: dict[str, Any]) -> Any:
            return run_cypher(transaction, cypher(name), parameters).single(strict=True)

        if not run("chunk_claim", marker)["fresh"]:
            return False
        for name, rows, expected, more in statements:
            written = sum(
                run(f"write_{name}", {"rows": rows[at : at + ROWS], **more})["written"]
                for at in range(0, len(rows), ROWS)
            )
            if not written and expected and name.endswith(NEAR):
                raise _NotWholeError
            if written != expected:
                events = name.removesuffix(NEAR) in ("outputs", "events")
                what = f"edges of {name.removesuffix(NEAR)}" if events else name
                msg = (
                    f"the graph: expected to write {expected} {what} for {marker['id']}; got "
                    f"{written}, "
                    "so nothing was written; try whence load again, or a record that is whole"
                )
                raise StoreError(msg)
        return True

    return connection.transact(work)


def _statements(content: ChunkContent, *, near: bool = True) -> Iterator[_Statement]:
    """What is run for a chunk, in this order: whatever is led to comes before what leads there.

    Args:
        content: what the chunk writes.
        near: read the events that edges lead to at once, where they lie close together.
    """
    for kind, rows in content.merged.items():
        yield "merged", rows, len(rows), {"kind": kind}
    yield "choices", content.choices, len(content.choices), {}
    yield "inner", content.inner, len(content.inner), {}
    together, left = near_edges(content) if near else ([], content.derived)
    if together:
        yield from _near(content, together)
    else:
        edges, left, kinds = _edges_of_events(content)
        made = sum(len(keys) for each in edges for _, keys in each)
        more: dict[str, Any] = {"kinds": kinds}
        if content.label == "inputs":  # they lead nowhere, and are counted themselves
            made, more = len(content.events), {}
        told = _event_rows(content.label, content.events)
        if content.label != "inputs":
            told = [[*row, own] for row, own in zip(told, edges, strict=True)]
        yield content.label, told, made, more
    for name in LITERAL:
        rows = _listed(left if name == "derived" else getattr(content, name))
        yield name, rows, sum(len(row["to"]) for row in rows), {}
    for name in SPANS:
        rows = getattr(content, name)
        yield name, rows, len(rows), {}
    yield "heads", content.heads, len(content.heads), {}


def _near(content: ChunkContent, together: Sequence[Near]) -> Iterator[_Statement]:
    """The events with their edges of one kind, then those of other kinds."""
    for at in range(0, len(content.events), ROWS):
        some = content.events[at : at + ROWS]
        places, made, more = together[0].rows([row["key"] for row in some])
        rows = _event_rows(content.label, some)
        told = [[*row, *place] for row, place in zip(rows, places, strict=True)]
        yield content.label + NEAR, told, made, more
    for each in together[1:]:
        for told, made, more in derived_rows(each, ROWS):
            yield "derived" + NEAR, told, made, more


def _listed(rows: Sequence[Row]) -> list[Row]:
    """The same rows with lists, as the driver sends them."""
    return [row if type(row["to"]) is list else {**row, "to": list(row["to"])} for row in rows]


def _edges_of_events(content: ChunkContent) -> tuple[list[_Edges], list[Row], list[Row]]:
    """The edges that are made with the event that they begin at; what is left; their properties.

    An edge that begins elsewhere, or that leads to a later event of the chunk, is made afterwards.
    """
    places = {row["key"]: at for at, row in enumerate(content.events)}
    last = content.events[-1]["key"] if content.events else -1
    edges: list[_Edges] = [[] for _ in content.events]
    left: list[Row] = []
    kinds: dict[str, int] = {}
    told: list[Row] = []
    known: dict[int, int] = {}  # by the object: mostly a few of them, again and again
    for row in content.derived:
        key, to = row["key"], row["to"]
        at = places.get(key)
        if at is None or (max(to, default=0) > key and any(key < each <= last for each in to)):
            left.append(row)
            continue
        number = known.get(id(row["with"]))
        if number is None:
            number = kinds.setdefault(json.dumps(row["with"]), len(told))
            if number == len(told):
                told.append(row["with"])
            known[id(row["with"])] = number
        edges[at].append([number, list(to)])
    return edges, left, told


@cache
def _properties(label: str) -> tuple[str, ...]:
    """What an event may carry, in the order in which its statement takes it."""
    found = re.findall(r"(\w+): row\[(\d+)\]", cypher(f"write_{label}"))
    return tuple(name for name, _ in sorted(found, key=lambda each: int(each[1])))


def _event_rows(label: str, events: Sequence[Row]) -> list[list[Any]]:
    names = _properties(label)
    unknown = set[str]().union(*events).difference(names)
    if unknown:
        msg = (
            f"an event: expected no properties but {', '.join(names)}; "
            f"got {', '.join(sorted(unknown))}; try adding them to write_{label}.cypher"
        )
        raise StoreError(msg)
    return [list(map(event.get, names)) for event in events]
