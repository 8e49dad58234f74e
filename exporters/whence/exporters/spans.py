"""Relations from ranges of outputs: zones refer to one event, bands to ranges, in columns."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from whence.engine.lineage.block import Block
from whence.engine.lineage.links import bands_of
from whence.exporters.describing import range_rows
from whence.exporters.marks import HOW, Marks
from whence.exporters.prov.identifiers import Namespace, link
from whence.exporters.prov.rows import AT_ONCE, Names, Rows, number_column
from whence.exporters.prov.statements import TYPE
from whence.exporters.vocabulary import term

__all__ = ["band_rows", "zone_rows"]

_BAND = (TYPE, term("Band"))
_ZONE = (TYPE, term("Zone"))


def band_rows(
    block: Block, source: Namespace, target: Namespace, count: int | None
) -> Iterator[Rows]:
    """Each band: the range of its outputs, related to the range of what they lead to.

    As far as there are events: ``count``, if it is known.
    """
    bands = bands_of(block)
    low, high = bands.hull
    low, high = np.maximum(low, 0), high if count is None else np.minimum(high, count - 1)
    there = low <= high
    bands, low, high = bands.where(there), low[there], high[there]
    letter, kind, type_ = HOW[block.relation]
    sa, sb = block.sa, block.sb
    for start in range(0, len(low), AT_ONCE):
        at = slice(start, start + AT_ONCE)
        lo, hi, a, b = (column[at] for column in bands.columns[:4])
        parts = ("b", letter, lo, "-", hi, f"-{link(target)}-", a, "_", b, f"_{sa}_{sb}")
        outputs = Names.numbered(source, "o", *parts)
        reached = Names.numbered(source, "r", *parts)
        yield range_rows(reached, target.name("all"), low[at], high[at])
        yield range_rows(outputs, source.name("all"), lo, hi)
        numbers = (
            (term("from"), number_column(a)),
            (term("to"), number_column(b)),
            (term("fromFactor"), sa),
            (term("toFactor"), sb),
        )
        said = (*Marks.of(block).attributes(type_), _BAND, *numbers)
        yield Rows(kind, len(lo), Names.numbered(source, *parts), (outputs, reached), said)


def zone_rows(block: Block, source: Namespace, target: Namespace) -> Iterator[Rows]:
    """Each zone: the range of its outputs, related to the one event; all are open, or none is."""
    letter, kind, type_ = HOW[block.relation]
    said = (*Marks.of(block).attributes(type_), _ZONE)
    is_open, ends = bool((block.more < 0).any()), block.ends
    for start in range(0, len(block), AT_ONCE):
        at = slice(start, start + AT_ONCE)
        first, last, place = block.outputs[at], ends[at], block.inputs[at]
        parts = ("z", letter, first, "-", "end" if is_open else last, f"-{link(target)}-", place)
        outputs = Names.numbered(source, "o", *parts)
        yield range_rows(outputs, source.name("all"), first, None if is_open else last)
        related = (outputs, Names.numbered(target, "e", place))
        yield Rows(kind, len(first), Names.numbered(source, *parts), related, said)
