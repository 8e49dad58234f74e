"""The heads of slices as zones, against looking at every output by itself."""

from __future__ import annotations

from random import Random

import numpy as np

from tests.engine.lineage.cases import cases
from tests.engine.lineage.random_rows import zones_of_heads
from whence.engine.lineage.association import Association
from whence.engine.lineage.block import OPEN
from whence.engine.lineage.heads import HeadZones
from whence.engine.lineage.positions import Positions, of_positions
from whence.engine.record.blocks import blocks_of
from whence.engine.record.schema import association_table

LENGTH = 20


def ended(rows: list[Association]) -> dict[tuple[int, int], int]:
    """The last output of each zone; where one row says that it is open, another may know it."""
    found: dict[tuple[int, int], int] = {}
    for row in rows:
        key = row.inputs[0], row.lo
        if row.hi is not None or key not in found:
            found[key] = OPEN if row.hi is None else row.hi
    return found


def test_heads_are_those_of_each_output() -> None:
    rng = Random(6)
    for _ in range(cases(300)):
        parts = zones_of_heads(rng, "s/heads", "s/p", LENGTH)
        blocks = [
            block
            for rows in parts
            for block in blocks_of(association_table(rows), "s/heads").blocks
        ]
        (zones,) = HeadZones.of(blocks).values()
        known = ended([row for rows in parts for row in rows])
        told = zip(zones.event.tolist(), zones.lo.tolist(), zones.hi.tolist(), strict=True)
        assert sorted(told) == sorted((event, lo, hi) for (event, lo), hi in known.items())

        outputs = {at for at in range(LENGTH) if rng.random() < 0.3}
        heads = {
            at: {event for (event, lo), hi in known.items() if lo <= at <= hi}
            for at in range(LENGTH)
        }
        met = zones.meeting(Positions.of_intervals(of_positions(outputs)))
        assert set(met.event.tolist()) == set().union(*(heads[at] for at in outputs))

        positions = np.array([rng.randrange(LENGTH) for _ in range(rng.randint(0, 5))], np.int64)
        names = np.arange(len(positions), dtype=np.int64)
        output, event = zones.pairs(names, positions)
        pairs = sorted(zip(output.tolist(), event.tolist(), strict=True))
        expected = [(n, e) for n, at in enumerate(positions.tolist()) for e in sorted(heads[at])]
        assert pairs == expected
        assert zones.size(positions) == len(expected)
