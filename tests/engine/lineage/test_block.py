"""Compact associations say the same as single pairs, whatever is done with them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import get_args

import numpy as np
import pyarrow.parquet as pq
import pytest

from whence.engine.lineage.association import Association, Relation
from whence.engine.lineage.block import Associations, Block
from whence.engine.lineage.joining import in_order
from whence.engine.lineage.positions import Ints
from whence.engine.record.compact import compact_table, encodings_of, from_compact_table
from whence.engine.record.files import write_table

W = 2**16
Pair = tuple[str, str, tuple[str, ...] | None, bool, int, int]
"""Relation, target, fields, copy, output, input."""


def random_block(random: Random, to: str, *, inner: bool = False) -> Block:
    step = random.choice([1, 1, W]) if inner else 1
    sa, sb = random.choice([(0, 0), (1, 1), (0, 1), (1, 0), (2, 2)])
    count = random.randint(0, 6)

    def numbers(lo: int, hi: int) -> Ints:
        return np.array([random.randint(lo, hi) for _ in range(count)], np.int64)

    outputs = numbers(0, 40) * step
    copy = random.random() < 0.3
    fields = None if copy else random.choice([None, (), ("a",), ("a", "b")])
    relation = random.choice(get_args(Relation))
    return Block(
        relation, "each", to, fields, copy, step, sa, sb, outputs, numbers(0, 5), numbers(0, 50),
        numbers(0, 3),
    )  # fmt: skip


def random_associations(random: Random, stream: str, *targets: str) -> Associations:
    blocks = [random_block(random, random.choice(targets)) for _ in range(random.randint(0, 5))]
    return Associations(stream, tuple(blocks))


def pairs(associations: Associations) -> Counter[Pair]:
    """One after the other, as the definition says."""
    found: Counter[Pair] = Counter()
    for b in associations.blocks:
        for item in range(len(b.outputs)):
            for j in range(int(b.more[item]) + 1):
                output = int(b.outputs[item]) + j * b.step
                first = int(b.inputs[item]) + j * b.sa
                last = int(b.inputs[item]) + int(b.width[item]) + j * b.sb
                for position in range(first, last + 1):
                    found[b.relation, b.to, b.fields, b.copy, output, position] += 1
    return found


def row_pairs(rows: list[Association]) -> set[Pair]:
    return {
        (row.relation, row.to, row.fields, row.copy, output, position)
        for row in rows
        for output in range(row.lo, (row.lo if row.hi is None else row.hi) + 1)
        for lo, hi in row.reaches(output, output)
        for position in range(lo, hi + 1)
    }


@pytest.mark.parametrize("seed", range(30))
def test_expanding_gives_every_pair(seed: int) -> None:
    made = random_associations(Random(seed), "s", "log:log", "t")
    found: Counter[Pair] = Counter()
    for (relation, _, to, fields, copy, _), (outputs, inputs) in made.expand().items():
        for output, position in zip(outputs.tolist(), inputs.tolist(), strict=True):
            found[relation, to, fields, copy, output, position] += 1
    assert found == pairs(made)
    assert sum(found.values()) == 0 or made.nbytes > 0


@pytest.mark.parametrize("seed", range(30))
def test_rows_say_the_same(seed: int) -> None:
    made = random_associations(Random(seed), "s", "log:log", "t")
    assert row_pairs(list(made.rows())) == set(pairs(made))


@pytest.mark.parametrize("seed", range(30))
def test_a_slice_keeps_the_pairs_of_its_outputs(seed: int) -> None:
    random = Random(seed)
    made = random_associations(random, "s", "log:log")
    first = random.randint(0, 45)
    last = first + random.randint(0, 20)
    wanted = {p: n for p, n in pairs(made).items() if first <= p[4] <= last}
    assert pairs(made.slice(first, last)) == wanted


@pytest.mark.parametrize("seed", range(30))
def test_inverting_swaps_every_pair(seed: int) -> None:
    made = random_associations(Random(seed), "s", "log:log", "t")
    found: Counter[Pair] = Counter()
    for name, inverse in made.invert().items():
        for (relation, to, fields, copy, output, position), n in pairs(inverse).items():
            assert (inverse.stream, to) == (name, "s")
            found[relation, name, fields, copy, position, output] += n
    assert found == pairs(made)


@pytest.mark.parametrize("seed", range(30))
def test_composing_follows_every_pair(seed: int) -> None:
    random = Random(seed)
    above = random_associations(random, "s", "log:log", "t")
    below = random_associations(random, "t", "log:log", "u")
    told: dict[tuple[str, str], str] = {
        ("explains", "explains"): "explains",
        ("explains", "trigger"): "trigger",
        ("trigger", "explains"): "trigger",
        ("trigger", "trigger"): "trigger",
        ("explains", "supports"): "supports",
        ("supports", "explains"): "supports",
        ("supports", "supports"): "supports",
    }
    wanted: set[Pair] = {p for p in pairs(above) if p[1] != "t"}
    for relation, to, fields, copy, output, position in pairs(above):
        for other, onto, theirs, copies, at, place in pairs(below):
            together = told.get((relation, other))
            if to == "t" and at == position and together is not None:
                asked = fields if copies else theirs
                wanted.add((together, onto, asked, copies and copy, output, place))
    assert set(pairs(above.compose(below))) == wanted


@pytest.mark.parametrize("seed", range(30))
def test_they_survive_the_record(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    blocks = [random_block(random, "log:log", inner=True) for _ in range(4)]
    made = Associations("s", tuple(blocks))
    file = tmp_path / "part.parquet"
    write_table(file, compact_table(made), encodings_of(made))
    again = from_compact_table(pq.read_table(file), "s")
    assert pairs(again) == pairs(made)


def test_an_open_zone_stays_open(tmp_path: Path) -> None:
    numbers = [np.array(a, np.int64) for a in ([3, 5], [-1, 4], [3 * W, 5 * W + 1], [0, 0])]
    zones = Block("explains", "zones", "s/p", None, False, 1, 0, 0, *numbers)
    made = Associations("s/heads", (zones,))
    write_table(tmp_path / "part.parquet", compact_table(made), encodings_of(made))
    again = from_compact_table(pq.read_table(tmp_path / "part.parquet"), "s/heads")
    rows = [(row.kind, row.lo, row.hi, row.inputs) for row in again.rows()]
    assert rows == [("zone", 3, None, (3 * W,)), ("zone", 5, 9, (5 * W + 1,))]


def test_a_million_parents_cost_few_bytes(tmp_path: Path) -> None:
    random = np.random.default_rng(7)
    outputs = np.arange(100_000) * W
    parents = np.maximum(outputs - random.geometric(1 / 1000, 100_000) * W, 0)
    none = np.zeros(100_000, np.int64)
    block = Block("explains", "each", "s/p", None, False, W, 0, 0, outputs, none, parents, none)
    made = Associations("s/p", (block,))
    write_table(tmp_path / "part.parquet", compact_table(made), encodings_of(made))
    assert (tmp_path / "part.parquet").stat().st_size < 2 * 100_000


@pytest.mark.parametrize("seed", range(3))
def test_many_numbers_are_put_in_order_as_few_are(seed: int) -> None:
    random = np.random.default_rng(seed)
    near = 1_000_000 + random.integers(0, 30_000, 30_000)
    far = random.integers(0, 500_000, 200 * seed)
    numbers = random.permutation(np.concatenate([near, far]))
    assert in_order(numbers).tolist() == np.argsort(numbers, kind="stable").tolist()


def test_a_zone_that_ended_is_not_open() -> None:
    def zones(*rows: tuple[int, int, int]) -> Block:
        outputs, more, inputs = (np.array(column, np.int64) for column in zip(*rows, strict=True))
        none = np.zeros(len(rows), np.int64)
        return Block("explains", "zones", "s/p", None, False, 1, 0, 0, outputs, more, inputs, none)

    first = zones((7, -1, 7 * W), (9, -1, 9 * W))
    then = zones((9, 4, 9 * W), (2, 3, 2 * W), (14, -1, 14 * W), (9, -1, 8 * W))
    (whole,) = Associations("s/heads", (first, then)).joined().blocks
    told = zip(whole.outputs.tolist(), whole.more.tolist(), whole.inputs.tolist(), strict=True)
    wanted = [(2, 3, 2), (7, -1, 7), (9, 4, 9), (9, -1, 8), (14, -1, 14)]
    assert list(told) == [(at, more, to * W) for at, more, to in wanted]
