"""The set of positions, in both of its forms, against plain sets; and its number of steps."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.engine.lineage.cases import cases
from whence.engine.lineage import positions as algebra
from whence.engine.lineage.positions import Intervals, Positions, minus, of_positions, positions


class _Counting(tuple[tuple[int, int], ...]):
    """Intervals that count how often one of them is looked at."""

    looks = 0

    def __getitem__(self, at: Any) -> Any:
        self.looks += 1
        return super().__getitem__(at)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        for each in super().__iter__():
            self.looks += 1
            yield each


def drawn(rng: random.Random) -> Intervals:
    share = rng.choice((0.1, 0.5, 0.9))
    first = rng.randint(-3, 10)
    return of_positions(
        at for at in range(first, first + rng.randint(0, 40)) if rng.random() < share
    )


def written(places: set[int]) -> Intervals:
    """The intervals of a set, found by looking at each of its members."""
    begins = sorted(at for at in places if at - 1 not in places)
    ends = sorted(at for at in places if at + 1 not in places)
    return tuple(zip(begins, ends, strict=True))


def check(rng: random.Random) -> None:
    left, right = drawn(rng), drawn(rng)
    one, other = set(positions(left)), set(positions(right))
    mine, yours = Positions.of_intervals(left), Positions.of_intervals(right)
    assert left == written(one)

    both = written(one | other)
    assert algebra.union(left, right) == mine.union(yours).intervals == both
    assert Positions.united([mine, yours]).intervals == algebra.joined((*right, *left)) == both
    rest = written(one - other)
    assert minus(left, right) == mine.minus(yours).intervals == rest
    shared = written(one & other)
    assert algebra.overlap(left, right) == mine.overlap(yours).intervals == shared
    assert mine.meets(yours) == bool(shared)
    assert bool(mine) == bool(one)
    assert algebra.count(left) == mine.count == len(one)
    assert mine.positions.tolist() == sorted(one)

    shuffled = [*one, *rng.choices([*one, 0], k=3)]
    rng.shuffle(shuffled)
    assert of_positions(shuffled) == Positions.of(np.array(shuffled)).intervals

    lo = rng.randint(-5, 50)
    hi = lo + rng.randint(-2, 12)
    within = written({at for at in one if lo <= at <= hi})
    assert tuple(algebra.meeting(left, lo, hi)) == mine.overlap(Positions.one(lo, hi)).intervals
    assert tuple(algebra.meeting(left, lo, hi)) == within
    assert mine.met_by(np.array([lo]), np.array([max(lo, hi)])).tolist() == [
        any(at in one for at in range(lo, max(lo, hi) + 1))
    ]
    assert algebra.contains(left, lo) == (lo in one)
    assert mine.contains(np.array([lo, hi])).tolist() == [lo in one, hi in one]


def test_every_operation_is_that_of_the_sets() -> None:
    rng = random.Random(27)
    for _ in range(cases(2_000)):
        check(rng)


def test_intervals_in_any_order_are_joined_and_empty_ones_left_out() -> None:
    rng = random.Random(28)
    for _ in range(cases(1_000)):
        lo = np.array([rng.randint(0, 30) for _ in range(rng.randint(0, 8))], np.int64)
        hi = lo + np.array([rng.randint(-3, 6) for _ in lo], np.int64)
        pairs = list(zip(lo.tolist(), hi.tolist(), strict=True))
        members = {at for first, last in pairs for at in range(first, last + 1)}
        assert Positions.joined(lo, hi).intervals == written(members)


def test_a_difference_looks_at_each_interval_a_few_times() -> None:
    many = 100_000
    left = _Counting((4 * at, 4 * at + 1) for at in range(many))
    right = _Counting((4 * at + 1, 4 * at + 2) for at in range(many))
    expected = tuple((4 * at, 4 * at) for at in range(many))
    assert minus(left, right) == expected
    assert left.looks + right.looks <= 10 * many
    columns = Positions.of_intervals(tuple(left)).minus(Positions.of_intervals(tuple(right)))
    assert columns.intervals == expected


def test_one_long_interval_is_cut_in_one_pass_over_the_cuts() -> None:
    many = 100_000
    cuts = _Counting((2 * at, 2 * at) for at in range(many))
    assert len(minus(((0, 2 * many),), cuts)) == many
    assert cuts.looks <= 10 * many


def test_a_member_is_found_without_looking_at_all_intervals() -> None:
    many = 100_000
    places = _Counting((2 * at, 2 * at) for at in range(many))
    assert algebra.contains(places, many)
    assert not algebra.contains(places, many + 1)
    assert places.looks < 100
