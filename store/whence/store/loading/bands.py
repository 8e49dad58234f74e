"""A Slice's heads are no events: what leads to them is kept as bands, neighbours joined."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from whence.engine.lineage.association import Association

__all__ = ["heads_as_bands"]


def heads_as_bands(
    rows: Sequence[Association], is_heads: Callable[[str], bool]
) -> Iterator[Association]:
    """Turn lists that lead to heads into bands; everything else stays as it is.

    Output k of a Slice leans on the heads at k, output k+1 on those at k+1: one band says it all.

    >>> rows = [Association("s", "explains", "list", k, k, "s/heads", (k,)) for k in (3, 4, 5)]
    >>> [(b.lo, b.hi, b.sa, b.a) for b in heads_as_bands(rows, lambda name: name == "s/heads")]
    [(3, 5, 1, 0)]
    """
    open_bands: dict[object, _Open] = {}
    for row in sorted(rows, key=lambda row: row.lo):
        if not is_heads(row.to):
            yield row
            continue
        shifts, last = _shifts(row)
        if not shifts and row.kind != "list":
            yield row
        for shift in shifts:
            kind = (row.relation, row.to, row.fields, row.copy, row.witness, shift)
            band = open_bands.get(kind)
            if band is not None and band.hi == row.lo - 1:
                band.hi = last
                continue
            if band is not None:
                yield band.band()
            open_bands[kind] = _Open(row, last, shift)
    for band in open_bands.values():
        yield band.band()


def _shifts(row: Association) -> tuple[list[int], int]:
    """How far ahead of its outputs each head lies that a row leads to, and its last output."""
    if row.kind == "list":
        return [position - row.lo for position in row.inputs], row.lo
    if row.kind == "band" and (row.sa, row.sb) == (1, 1) and row.a == row.b and row.hi is not None:
        return [row.a], row.hi
    return [], row.lo


@dataclass(slots=True)
class _Open:
    """A band that may still go on."""

    first: Association
    hi: int
    shift: int

    def band(self) -> Association:
        shift = self.shift
        return replace(self.first, kind="band", hi=self.hi, inputs=(), a=shift, b=shift, sa=1, sb=1)
