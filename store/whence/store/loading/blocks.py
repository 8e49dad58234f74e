"""Edges of compact associations, made from their columns: most of what a part leads to."""

from __future__ import annotations

from typing import Any

import numpy as np

from whence.engine.lineage.block import LITERAL, Block
from whence.store.places import key_of

__all__ = ["head_spans", "literal_edges"]


def literal_edges(block: Block, no: int, to: int) -> list[dict[str, Any]] | None:
    """The rows of edges that a block stands for, in the order of their keys.

    ``None`` if they are not that simple, because some outputs lead to too many inputs for edges, or
    stand in several items; whoever asks then goes by the block's own rows, which say the same.

    Args:
        block: not one that leads to heads.
        no: the number of the stream whose outputs these are.
        to: the number of the log or stream that they lead to.

    >>> arrays = (np.array([4]), np.array([1]), np.array([3]), np.array([1]))
    >>> two = Block("explains", "each", "log:log", None, False, 1, 1, 1, *arrays)
    >>> [(row["key"], row["to"]) for row in literal_edges(two, 0, 0)]
    [(4, range(3, 5)), (5, range(4, 6))]
    """
    if block.kind != "each" or bool(block.wide.any()):
        return None
    output, lo, hi = block.leads()
    order = np.argsort(output, kind="stable")
    output, lo, hi = output[order], lo[order], hi[order]
    if bool((output[1:] == output[:-1]).any()) or bool((hi - lo >= LITERAL).any()):
        return None
    told: dict[str, Any] = {}
    if block.relation == "trigger":
        told["trigger"] = True
    if block.fields is not None:
        told["fields"] = list(block.fields)
    if block.copy:
        told["copy"] = True
    if block.witness is not None:
        told["witness"] = list(block.witness)
    keys = (output + key_of(no, 0)).tolist()
    first, last = (lo + key_of(to, 0)).tolist(), (hi + key_of(to, 0)).tolist()
    return [
        {"key": key, "to": range(begin, end + 1), "with": told}
        for key, begin, end in zip(keys, first, last, strict=True)
    ]


def head_spans(block: Block, no: int, to: int) -> list[dict[str, Any]]:
    """The rows of heads that a block of zones stands for: from which output to which each is one.

    Args:
        block: zones, of which some may be open.
        no: the number of the stream of heads.
        to: the number of the stream inside the Slice.

    >>> arrays = (np.array([4, 6]), np.array([1, -1]), np.array([3, 5]), np.array([0, 0]))
    >>> zones = Block("explains", "zones", "s/p", None, False, 1, 0, 0, *arrays)
    >>> [(row["key"], row["span"]) for row in head_spans(zones, 2, 0)]
    [(3, {'no': 2, 'lo': 4, 'hi': 5}), (5, {'no': 2, 'lo': 6})]
    """
    keys = (block.inputs + key_of(to, 0)).tolist()
    more = block.more.tolist()
    ends = block.ends.tolist()
    return [
        {"key": key, "span": {"no": no, "lo": lo} if m < 0 else {"no": no, "lo": lo, "hi": hi}}
        for key, lo, m, hi in zip(keys, block.outputs.tolist(), more, ends, strict=True)
    ]
