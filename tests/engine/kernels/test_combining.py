"""What slices give together: arrays say what the interpreter's aggregates say, and fail as they do.

Values are drawn so that every way is met: small and huge integers, floats that overflow, missing
ones, kinds that change in the middle of a log.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest

from tests.engine.kernels.comparing import by_interpreter, by_kernels, columns_of, difference
from tests.engine.random_chains import Case
from whence.engine import ApplyFunction, Chain, Filter, Slice, Trim
from whence.engine.errors import EventError
from whence.engine.kernels.folds.combining_numbers import Extremes, Folds
from whence.engine.kernels.processors.slice import SliceKernel
from whence.engine.kernels.work import KernelWork

SEEDS = 400 if os.environ.get("WHENCE_TEST_PROFILE") == "full" else 8
HUGE = 2**63 - 1
NUMBERS = ("add", "product", "min", "max")

DRAWS: dict[str, list[Any]] = {
    "small": [0, 1, 2, -1, 3],
    "flags": [1, 1, 1, 0],
    "huge": [HUGE, -HUGE - 1, 2**61, -(2**61), 2**61 + 1, 3037000500, 2**32, -(2**31), 1, 0],
    "floats": [0.1, 0.2, -0.3, 0.0, -0.0, 1e16, 3.5, 2.0],
    "overflowing": [1e308, -1e308, 1e200, 0.0, 0.5],
    "odd": [1.5, float("nan"), float("inf"), float("-inf"), 0.0],
    "mixed": [1, 2, 0, 0.5, 0.0],
    "missing": [1, None, 0, 2],
    "lost floats": [1.5, None, 0.0],
    "durations": [timedelta(seconds=2), timedelta(0), timedelta(microseconds=-5)],
    "instants": [datetime(2020, 1, day, tzinfo=UTC) for day in (1, 2, 3)],
    "texts": ["b", "a", "c"],
}


@dataclass
class Given(Case):
    """A case with a chain that is made already."""

    made: Chain | None = None

    def chain(self) -> Chain:
        """The chain itself."""
        assert self.made is not None
        return self.made


def _inner(random: Random) -> Any:
    x = ApplyFunction("x", "x")
    return random.choice(
        [
            x,
            Filter("some", "keep") | ApplyFunction("of-some", "x"),
            Trim("later", 1) | ApplyFunction("of-later", "x"),
            Chain.of(Slice("inner", by="sub", of=x, combine=random.choice(NUMBERS))),
        ]
    )


def _case(seed: int, combine: str, drawn: str) -> Given:
    random = Random(f"{seed} {combine} {drawn}")
    usual, rare = DRAWS[drawn], DRAWS[random.choice(sorted(DRAWS))]
    keys: list[Any] = random.choice([[1, 2], [*range(12)], [[1, 2], [], [3], 2]])
    log = [
        {
            "case": random.choice(keys),
            "sub": random.choice("pq"),
            "keep": random.random() < 0.7,
            "x": random.choice(rare if random.random() < 0.03 else usual),
        }
        for _ in range(random.choice([5, 40]))
    ]
    take = random.choice(["last", "last", "first"])
    chain = Chain.of(Slice("all", by="case", of=_inner(random), combine=combine, take=take))
    if random.random() < 0.3:
        chain = Chain.of(Slice("outer", by="sub", of=chain, combine=random.choice(NUMBERS)))
    return Given(seed, {}, {"log": log}, random.random() < 0.3, set(), chain)


@pytest.mark.parametrize("drawn", sorted(DRAWS))
@pytest.mark.parametrize("combine", [*NUMBERS, "count"])
def test_slices_give_together_what_the_interpreter_says(combine: str, drawn: str) -> None:
    for seed in range(SEEDS):
        case = _case(seed, combine, drawn)
        told = difference(case, moved=seed % 2 == 0)
        assert told is None, f"seed {seed}: {told}"


@pytest.mark.parametrize("drawn", ["small", "flags", "floats"])
@pytest.mark.parametrize("combine", NUMBERS)
def test_usual_numbers_stay_on_arrays(combine: str, drawn: str) -> None:
    """Else a fast way that is never gone would pass unseen."""
    random = Random(1)
    log = [{"case": random.randrange(4), "x": random.choice(DRAWS[drawn])} for _ in range(50)]
    chain = Chain.of(Slice("all", by="case", of=ApplyFunction("x", "x"), combine=combine))
    work = KernelWork(chain)
    work.feed({"log": columns_of(log, work.run)})
    kernel = work.kernels.steps[0].kernel
    assert isinstance(kernel, SliceKernel)
    assert isinstance(kernel.combining, (Folds, Extremes))
    assert kernel.combining.plain
    work.feed({"log": columns_of([{"case": 1, "x": None}], work.run)})
    assert not kernel.combining.plain


@pytest.mark.parametrize("combine", ["add", "product"])
@pytest.mark.parametrize("x", [HUGE, 2**32, -(2**32), 1e308, 1e200])
def test_an_overflow_is_refused_with_the_interpreters_words(combine: str, x: float) -> None:
    chain = Chain.of(Slice("all", by="case", of=ApplyFunction("x", "x"), combine=combine))
    log = [{"case": case, "x": type(x)(1) if case % 3 else x} for case in range(9)]
    expected, got = "", ""
    try:
        by_interpreter(chain, {"log": log}, False)
    except EventError as error:
        expected = str(error)
    try:
        by_kernels(chain, {"log": log}, False, Random(4))
    except EventError as error:
        got = str(error)
    assert got == expected
    assert bool(expected) == (combine == "product" or x in (HUGE, 1e308))


@pytest.mark.parametrize("combine", ["and", "or", "count", "add", "min"])
def test_many_slices_that_have_no_slices_of_their_own_yet_say_the_same(combine: str) -> None:
    """Their keys are empty lists, so that an inner Slice never begins anything for them."""
    inner = Slice("inner", by="k", of=ApplyFunction("x", "x"), combine=combine)
    chain = Chain.of(Slice("outer", by="a", of=Chain.of(inner), combine="map"))
    value = True if combine in ("and", "or") else 1
    log = [{"a": n, "k": [1] if n % 7 == 6 else [], "x": value} for n in range(90)]
    assert difference(Given(0, {}, {"log": log}, False, set(), chain)) is None
