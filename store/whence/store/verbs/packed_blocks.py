"""Packed chunks in the form that is followed: blocks, in which logs and streams go by number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np

from whence.engine.lineage.block import Block, Kind
from whence.engine.lineage.follow import Lineage
from whence.store.packed import BAND, HEADS, Group
from whence.store.verbs.spans import relation_of

__all__ = ["blocks_of", "lineage_of"]


def lineage_of(groups: Iterable[Group], *, every: bool) -> Lineage:
    """What leads where by some packed edges, spans and heads.

    Args:
        groups: of all chunks in question.
        every: whether every option of a choice counts, not only the first.
    """
    by_stream: dict[str, list[Group]] = {}
    for group in groups:
        by_stream.setdefault(str(group.source), []).append(group)

    def blocks(stream: str) -> Iterator[Block]:
        for group in by_stream[stream]:
            yield from blocks_of(group)

    return Lineage(by_stream, blocks, every=every)


def blocks_of(group: Group) -> Iterator[Block]:
    """What a group says.

    >>> columns = tuple(np.array([n]) for n in (0, 9, -2, 0, 1, 1))
    >>> window = Group("wasDerivedFrom band", {"copy": True}, 7, 1, columns)
    >>> [(b.relation, b.kind, b.to, b.copy, b.more.tolist()) for b in blocks_of(window)]
    [('explains', 'bands', '1', True, [9])]
    """
    told, type = group.properties, group.type.removesuffix(BAND)
    kind: Kind = "bands" if group.type != type else "zones" if type == HEADS else "each"
    fields, witness = (
        None if told.get(name) is None else tuple(told[name]) for name in ("fields", "witness")
    )
    relation, copies = relation_of(type, told.get("trigger")), bool(told.get("copy"))
    named = partial(Block, relation, kind, str(group.target), fields, copies, 1)
    made = partial(named, witness=witness)
    if kind == "bands":
        lo, hi, a, b, sa, sb = group.columns
        for steps in sorted({*zip(sa.tolist(), sb.tolist(), strict=True)}):
            some = (sa == steps[0]) & (sb == steps[1])
            first = lo[some]
            low, high = first * steps[0] + a[some], first * steps[1] + b[some]
            yield made(*steps, first, hi[some] - first, low, high - low)
        return
    none = np.zeros(len(group.columns[0]), np.int64)
    if kind == "zones":
        lo, inner, hi = group.columns
        yield made(0, 0, lo, np.where(hi < 0, -1, hi - lo), inner, none)
    else:
        source, target = group.columns
        yield made(0, 0, source, none, target, none)
