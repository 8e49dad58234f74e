"""Declare variants, run them in turn, take medians."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal

__all__ = ["Bench", "BenchError", "Better", "Result", "quick"]

Better = Literal["lower", "higher"]
"""Which way a result has to go to be the better one."""

ROUNDS = 5
QUICK_ROUNDS = 2


class BenchError(Exception):
    """A wrong declaration or request of a benchmark; the message is one line."""


def quick() -> bool:
    """Whether only a short run is wanted (``BENCH_QUICK=1``)."""
    return os.environ.get("BENCH_QUICK", "") not in ("", "0")


@dataclass(frozen=True)
class Result:
    """What one variant or ratio gave: every run, and their median.

    >>> Result("window.vs_importer", "ratio", (0.53, 0.57, 0.55)).value
    0.55
    """

    id: str
    unit: str
    runs: tuple[float, ...]
    better: Better = "lower"

    @property
    def value(self) -> float:
        """The median of the runs."""
        return median(self.runs)

    @property
    def spread(self) -> tuple[float, float]:
        """The smallest and the largest run."""
        return min(self.runs), max(self.runs)


@dataclass(frozen=True)
class _Variant:
    id: str
    unit: str
    run: Callable[[Any], float | None]
    rounds: int | None

    def measure(self, prepared: Any) -> float:
        started = time.perf_counter()
        measured = self.run(prepared)
        elapsed = time.perf_counter() - started
        return elapsed if measured is None else float(measured)


def _better(unit: str) -> Better:
    """Rates are better if higher; times, sizes and ratios if lower.

    >>> _better("k events/s"), _better("µs/event")
    ('higher', 'lower')
    """
    return "higher" if "/s" in unit else "lower"


class Bench:
    """Some variants of the same work, and the ratios that count.

    Args:
        title: One line above the table.
        prepare: Makes what all variants need (data, a session) and clears it away; its value is
            handed to every variant. Not timed.
        rounds: How often each variant is run; at least five, because medians of fewer mean little.
        warm_up: Rounds before that which are not counted.
        into: The benchmark in whose file the results stand, beside its own, each with the name of
            this one. Its own file, unless given.
    """

    def __init__(
        self,
        title: str,
        *,
        prepare: Callable[[], AbstractContextManager[Any]] = nullcontext,
        rounds: int = ROUNDS,
        warm_up: int = 1,
        into: str | None = None,
    ) -> None:
        if rounds < ROUNDS:
            msg = f"expected rounds >= {ROUNDS}; got {rounds}; try BENCH_QUICK=1 for a short look"
            raise BenchError(msg)
        self.title = title
        self.into = into
        self._prepare = prepare
        self._rounds = rounds
        self._warm_up = warm_up
        self._variants: dict[str, _Variant] = {}
        self._ratios: dict[str, tuple[str, str, Better]] = {}

    def variant(
        self, id: str, unit: str = "s", *, rounds: int | None = None
    ) -> Callable[[Callable[[Any], float | None]], Callable[[Any], float | None]]:
        """Declare one way of doing the work.

        Args:
            id: what it is called.
            unit: of what it returns.
            rounds: in how many rounds it runs, and not in the warm-up; for what takes long, or
                what is the same every time. All, unless given.
        """
        self._check_new(id)

        def declare(run: Callable[[Any], float | None]) -> Callable[[Any], float | None]:
            self._variants[id] = _Variant(id, unit, run, rounds)
            return run

        return declare

    def ratio(self, id: str, variant: str, against: str, better: Better | None = None) -> None:
        """Declare that ``variant`` divided by ``against`` counts, in every round that has both.

        Args:
            id: what it is called.
            variant: what is divided.
            against: by what.
            better: which way is the better one; higher for rates and lower for all else, unless
                told: a ratio of rates may express how much slower something is.
        """
        self._check_new(id)
        for name in (variant, against):
            if name not in self._variants:
                known = ", ".join(self._variants) or "none"
                msg = f"ratio {id!r}: expected a declared variant; got {name!r}; try one of {known}"
                raise BenchError(msg)
        usual = _better(self._variants[variant].unit)
        self._ratios[id] = (variant, against, better or usual)

    @property
    def ids(self) -> list[str]:
        """What `run` will give results for."""
        return list(self.units)

    @property
    def units(self) -> dict[str, str]:
        """The unit of each of these."""
        measured = {id: variant.unit for id, variant in self._variants.items()}
        return {**measured, **dict.fromkeys(self._ratios, "ratio")}

    @property
    def steps(self) -> int:
        """How many single runs ``run`` will make."""
        return sum(1 for _ in self._schedule())

    def run(self, progress: Callable[[str], None] = lambda told: None) -> list[Result]:
        """Run all variants in turn and return their results, then the ratios.

        ``progress`` is called after every single run.
        """
        if not self._variants:
            msg = f"bench {self.title!r}: expected at least one variant; got none; try @variant"
            raise BenchError(msg)
        runs: dict[str, list[float]] = {id: [] for id in self._variants}
        with self._prepare() as prepared:
            for counted, variant in self._schedule():
                measured = variant.measure(prepared)
                if counted:
                    runs[variant.id].append(measured)
                told = f"{variant.id}: {measured:,.4g} {variant.unit}"
                progress(told if counted else f"{told} (warm-up)")
        results = [
            Result(v.id, v.unit, tuple(runs[v.id]), _better(v.unit))
            for v in self._variants.values()
        ]
        for id, (of, to, better) in self._ratios.items():
            each = tuple(a / b for a, b in zip(runs[of], runs[to], strict=False))
            results.append(Result(id, "ratio", each, better))
        return results

    def _plan(self) -> tuple[int, int]:
        return (QUICK_ROUNDS, 0) if quick() else (self._rounds, self._warm_up)

    def _schedule(self) -> Iterator[tuple[bool, _Variant]]:
        """Yield the runs; every other round backwards, so that drift favours no variant."""
        rounds, warm_up = self._plan()
        variants = list(self._variants.values())
        for number in range(warm_up + rounds):
            order = variants if number % 2 == 0 else variants[::-1]
            for variant in order:
                if variant.rounds is None or warm_up <= number < warm_up + variant.rounds:
                    yield number >= warm_up, variant

    def _check_new(self, id: str) -> None:
        if id in self.ids:
            msg = f"bench {self.title!r}: expected a new id; got {id!r} twice; try another name"
            raise BenchError(msg)
