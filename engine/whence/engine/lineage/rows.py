"""Rows in memory, few of them: as blocks to be followed, and by the events that they lead from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from whence.engine.lineage.association import Association
from whence.engine.lineage.block import Block
from whence.engine.lineage.follow import Lineage
from whence.engine.lineage.positions import Intervals

__all__ = ["RowIndex", "blocks_of_rows", "lineage_of_rows"]


def lineage_of_rows(rows: Iterable[Association]) -> Lineage:
    """What some rows say together, every alternative among them."""
    blocks = blocks_of_rows(rows)
    return Lineage(blocks, blocks.__getitem__, every=True)


def blocks_of_rows(rows: Iterable[Association]) -> dict[str, list[Block]]:
    """The same as blocks, by stream."""
    alike: dict[tuple[Any, ...], list[Association]] = {}
    for row in rows:
        told = row.stream, row.relation, row.kind, row.to, row.fields, row.copy, row.witness
        alike.setdefault((*told, row.sa, row.sb), []).append(row)
    blocks: dict[str, list[Block]] = {}
    for some in alike.values():
        blocks.setdefault(some[0].stream, []).append(_block(some))
    return blocks


def _block(rows: list[Association]) -> Block:
    one = rows[0]
    if one.kind == "band":
        items = [(row.lo, row.hi, row.lo * row.sa + row.a, row.lo * row.sb + row.b) for row in rows]
    else:
        last = one.kind == "zone"
        items = [(r.lo, r.hi if last else r.lo, at, at) for r in rows for at in r.inputs]
    numbers = [(lo, -1 if hi is None else hi - lo, low, high - low) for lo, hi, low, high in items]
    kind: Any = {"band": "bands", "zone": "zones"}.get(one.kind, "each")
    columns = np.array(numbers, np.int64).reshape(-1, 4).T
    shared = one.relation, kind, one.to, one.fields, one.copy, 1, one.sa, one.sb
    return Block(*shared, *columns, witness=one.witness)


class RowIndex:
    """Rows by what they lead from: lists by the event itself, the others by its stream."""

    def __init__(self, rows: Iterable[Association]) -> None:
        """Sort them."""
        self._lists: dict[tuple[str, int], list[Association]] = {}
        self._spans: dict[str, list[Association]] = {}
        for row in rows:
            if row.kind == "list":
                self._lists.setdefault((row.stream, row.lo), []).append(row)
            else:
                self._spans.setdefault(row.stream, []).append(row)

    def leads(self, stream: str, position: int) -> Iterator[tuple[Association, Intervals]]:
        """The rows that lead from an event, and where to."""
        for row in (*self._lists.get((stream, position), ()), *self._spans.get(stream, ())):
            reached = row.reaches(position, position)
            if reached:
                yield row, reached
