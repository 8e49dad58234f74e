"""Random associations as rows: what the slow ways of these tests look at, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from whence.engine.lineage.association import Association, Relation

__all__ = ["some_rows", "zones_of_heads"]

FIELDS: tuple[tuple[str, ...] | None, ...] = (None, (), ("x",), ("x", "y"))
RELATIONS: tuple[Relation, ...] = ("explains", "trigger", "supports")


def some_rows(
    rng: Random, stream: str, to: str, length: int, most: int, *, choices: bool = False
) -> Iterator[Association]:
    """Lists, bands and zones of outputs 0..length-1 that lead to positions 0..most-1.

    Bands may begin with no input at all, or lead past the end.
    """
    for _ in range(rng.randint(0, 6)):
        relation, fields = rng.choice(RELATIONS), rng.choice(FIELDS)
        witness = tuple(sorted(rng.sample(range(3), rng.randint(1, 2)))) if choices else None
        lo = rng.randrange(length)
        hi = min(lo + rng.randint(0, 5), length - 1)
        first = rng.randrange(most)
        form = rng.randrange(4)
        begin = Association(stream, relation, "zone", lo, hi, to, (first,))
        row = replace(begin, fields=fields, copy=rng.random() < 0.2, witness=witness)
        if form == 0:
            yield row
        elif form == 1:
            sa, sb = rng.choice([(0, 0), (1, 1), (0, 1), (1, 0), (2, 2)])
            a = first - lo * sa
            b = first + rng.randint(-2, 4) - lo * sb
            yield replace(row, kind="band", inputs=(), a=a, b=b, sa=sa, sb=sb)
        else:
            inputs = tuple(sorted({rng.randrange(most) for _ in range(rng.randint(1, 4))}))
            yield replace(row, kind="list", hi=lo, inputs=inputs)


def zones_of_heads(rng: Random, stream: str, to: str, length: int) -> list[list[Association]]:
    """The zones of some slices, by the part that tells of them; open ones may be told of twice."""
    parts: list[list[Association]] = [[] for _ in range(3)]
    width = -(-length // len(parts))
    event = 0
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(length)
        while at < length:
            end = at + rng.randint(0, length // 2)
            begun, ended = at // width, end // width
            row = Association(stream, "explains", "zone", at, end, to, (event,))
            still = Association(stream, "explains", "zone", at, None, to, (event,))
            if end >= length:
                parts[begun].append(still)
            else:
                parts[ended].append(row)
                if ended > begun and rng.random() < 0.8:
                    parts[begun].append(still)
            event += rng.randint(1, 2)
            at = end + 1
    return parts
