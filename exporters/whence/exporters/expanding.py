"""Ranges written out: every pair of output and input by itself, some outputs at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from whence.engine.lineage.block import Block
from whence.engine.lineage.heads import HeadZones
from whence.engine.lineage.positions import Ints, flat_ranges
from whence.exporters.gathering import said_together

__all__ = ["expanded", "pairs_block", "pairs_of", "singly"]

_AT_ONCE = 200_000
"""About this many pairs are made at once; those of one output always together."""


def singly(block: Block, count: int | None = None) -> Block:
    """Single outputs, each with the range that it leads to.

    Args:
        block: zones that have ended, or bands.
        count: how many positions there are; a band may lead past either end.
    """
    output, lo, hi = block.leads()
    if block.kind == "bands":
        lo, hi = np.maximum(lo, 0), hi if count is None else np.minimum(hi, count - 1)
        there = lo <= hi
        output, lo, hi = output[there], lo[there], hi[there]
    one = replace(block, kind="each", step=1, sa=0, sb=0)
    return one.of(output, np.zeros(len(output), np.int64), lo, hi - lo)


def pairs_of(block: Block) -> tuple[Ints, Ints]:
    """Every pair of single outputs and what they lead to."""
    if not block.width.any():
        return block.outputs, block.inputs
    inputs, which = flat_ranges(block.inputs, block.width + 1)
    return block.outputs[which], inputs


def pairs_block(block: Block, outputs: Ints, inputs: Ints) -> Block:
    """Pairs that are said as the items of a block are."""
    none = np.zeros(len(outputs), np.int64)
    return replace(block.of(outputs, none, inputs, none), kind="each", step=1, sa=0, sb=0)


def expanded(several: list[Block], heads: HeadZones | None) -> Iterator[list[Block]]:
    """All pairs of single outputs and one stream, each once, those of some outputs at a time.

    Args:
        several: the outputs, as `singly` gives them.
        heads: the heads that positions of the stream stand for, if it has no events.
    """
    ordered = [block.where(np.argsort(block.outputs, kind="stable")) for block in several]
    outputs = np.unique(np.concatenate([block.outputs for block in ordered]))
    sizes = np.zeros(len(outputs), np.int64)
    for block in ordered:
        each = block.width + 1
        if heads is not None:
            each = np.full(len(block), max(1, len(heads.lo) // max(1, len(outputs))))
        np.add.at(sizes, np.searchsorted(outputs, block.outputs), each)
    piece = np.cumsum(sizes) // _AT_ONCE
    starts = np.flatnonzero(np.diff(piece, prepend=-1))
    for first, after in zip(starts, [*starts[1:], len(outputs)], strict=True):
        found = []
        for block in ordered:
            begin = np.searchsorted(block.outputs, outputs[first])
            end = np.searchsorted(block.outputs, outputs[after - 1], side="right")
            pairs = pairs_of(block.where(np.arange(begin, end)))
            found.append(pairs_block(block, *(pairs if heads is None else heads.pairs(*pairs))))
        yield list(said_together(found))
