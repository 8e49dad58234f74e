"""Relations from ranges of outputs: zones refer to one event, bands to ranges, in columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from whence.engine.lineage.positions import Ints
from whence.exporters.describing import range_rows
from whence.exporters.marks import HOW, Marks
from whence.exporters.prov.identifiers import Namespace, link
from whence.exporters.prov.rows import AT_ONCE, Names, Rows, number_column
from whence.exporters.prov.statements import TYPE
from whence.exporters.vocabulary import term

__all__ = ["Bands", "band_rows", "zone_rows"]

_BAND = (TYPE, term("Band"))
_ZONE = (TYPE, term("Zone"))


class Bands(NamedTuple):
    """Bands of one relation: outputs lo..hi are derived from ``o*sa + a`` to ``o*sb + b``."""

    lo: Ints
    hi: Ints
    a: Ints
    b: Ints
    sa: int
    sb: int

    def reached(self, count: int | None) -> tuple[Ints, Ints]:
        """From where to where the outputs lead, taken together, as far as there are events."""
        low = np.minimum(self.lo * self.sa, self.hi * self.sa) + self.a
        high = np.maximum(self.lo * self.sb, self.hi * self.sb) + self.b
        low = np.maximum(low, 0)
        return low, high if count is None else np.minimum(high, count - 1)

    def where(self, chosen: np.ndarray | slice) -> Bands:
        lo, hi, a, b = (array[chosen] for array in self[:4])
        return Bands(lo, hi, a, b, self.sa, self.sb)


def band_rows(
    relation: str,
    source: Namespace,
    target: Namespace,
    marks: Marks,
    bands: Bands,
    count: int | None,
) -> Iterator[Rows]:
    """Each band: the range of its outputs, related to the range that they are derived from."""
    low, high = bands.reached(count)
    there = low <= high
    bands, low, high = bands.where(there), low[there], high[there]
    letter, kind, type_ = HOW[relation]
    for start in range(0, len(low), AT_ONCE):
        at = slice(start, start + AT_ONCE)
        lo, hi, a, b, sa, sb = bands.where(at)
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
        said = (*marks.attributes(type_), _BAND, *numbers)
        yield Rows(kind, len(lo), Names.numbered(source, *parts), (outputs, reached), said)


def zone_rows(
    relation: str,
    source: Namespace,
    target: Namespace,
    marks: Marks,
    lo: Ints,
    hi: Ints | None,
    inputs: Ints,
) -> Iterator[Rows]:
    """Each zone: the range of its outputs, related to the one event; no ``hi``: to the end."""
    letter, kind, type_ = HOW[relation]
    said = (*marks.attributes(type_), _ZONE)
    for start in range(0, len(lo), AT_ONCE):
        at = slice(start, start + AT_ONCE)
        first, last, place = lo[at], None if hi is None else hi[at], inputs[at]
        ended = "end" if last is None else last
        parts = ("z", letter, first, "-", ended, f"-{link(target)}-", place)
        outputs = Names.numbered(source, "o", *parts)
        yield range_rows(outputs, source.name("all"), first, last)
        ends = (outputs, Names.numbered(target, "e", place))
        yield Rows(kind, len(first), Names.numbered(source, *parts), ends, said)
