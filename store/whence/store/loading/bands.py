"""A Slice's heads are no events: what leads to them is kept as bands, neighbours joined."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from whence.engine.associations import Association

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
        if row.kind != "list" or not is_heads(row.to):
            yield row
            continue
        for position in row.inputs:
            shift = position - row.lo
            kind = (row.relation, row.to, row.fields, row.copy, row.witness, shift)
            band = open_bands.get(kind)
            if band is not None and band.hi == row.lo - 1:
                band.hi = row.lo
                continue
            if band is not None:
                yield band.band()
            open_bands[kind] = _Open(row, row.lo, shift)
    for band in open_bands.values():
        yield band.band()


@dataclass(slots=True)
class _Open:
    """A band that may still go on."""

    first: Association
    hi: int
    shift: int

    def band(self) -> Association:
        shift = self.shift
        return replace(self.first, kind="band", hi=self.hi, inputs=(), a=shift, b=shift, sa=1, sb=1)
