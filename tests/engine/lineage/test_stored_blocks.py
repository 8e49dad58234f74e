"""The one reader of associations: blocks say what the rows on disk say, no more and no less."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

from tests.engine.lineage.cases import cases
from tests.engine.lineage.random_rows import some_rows
from whence.engine.lineage.association import Association
from whence.engine.lineage.positions import Positions, of_positions
from whence.engine.record.blocks import blocks_of
from whence.engine.record.schema import association_table


def drawn(rng: Random) -> list[Association]:
    rows = [
        row
        for to in ("log:log", "s", "s/choices")
        for row in some_rows(rng, "s", to, 12, 9, choices=to == "s/choices" or rng.random() < 0.1)
    ]
    rng.shuffle(rows)
    return rows


def single(rows: list[Association]) -> Counter[Association]:
    """Every input of a list by itself: lists of one output are joined."""
    return Counter(
        replace(row, inputs=(position,)) if row.kind == "list" else row
        for row in rows
        for position in (row.inputs or (-1,))
    )


def test_blocks_say_what_the_rows_on_disk_say() -> None:
    rng = Random(4)
    for _ in range(cases(300)):
        rows = drawn(rng)
        found = blocks_of(association_table(rows), "s")
        assert single(list(found.rows())) == single(rows)
        assert found.stream == "s"


def leads(row: Association) -> set[tuple[object, ...]]:
    last = row.lo if row.hi is None else row.hi
    return {
        (row.relation, row.to, row.fields, row.copy, row.witness, output, position)
        for output in range(row.lo, last + 1)
        for lo, hi in row.reaches(output, output)
        for position in range(lo, hi + 1)
    }


def test_a_block_of_some_outputs_says_of_these_what_it_said() -> None:
    rng = Random(5)
    for _ in range(cases(300)):
        rows = drawn(rng)
        here = {at for at in range(14) if rng.random() < 0.5}
        wanted = Positions.of_intervals(of_positions(here))
        found = [
            row
            for block in blocks_of(association_table(rows), "s").blocks
            for row in block.within(wanted).rows("s")
        ]
        expected = {lead for row in rows for lead in leads(row) if lead[5] in here}
        assert {lead for row in found for lead in leads(row)} == expected
