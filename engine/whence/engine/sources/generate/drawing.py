"""Chance that is the same everywhere: numbers from a seed, whatever release draws them.

NumPy promises that the raw numbers of a generator never change, but not what its distributions
make of them. So the few distributions needed here are made from the raw numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

__all__ = ["Draws", "runs"]

Numbers = npt.NDArray[np.int64]


class Draws:
    """Arrays of chance, drawn one after the other.

    >>> Draws(7, 0).below(6, 5).tolist() == Draws(7, 0).below(6, 5).tolist()
    True
    """

    def __init__(self, seed: int, stream: int) -> None:
        """Begin a stream of its own for each seed and number."""
        self._raw = np.random.PCG64(np.random.SeedSequence([seed, stream]))

    def share(self, count: int) -> npt.NDArray[np.float64]:
        """Numbers from 0 up to, but without, 1."""
        raw: npt.NDArray[np.uint64] = self._raw.random_raw(count)
        return (raw >> np.uint64(11)).astype(np.float64) * np.float64(2.0**-53)

    def below(self, limit: int, count: int) -> Numbers:
        """Whole numbers from 0 up to, but without, the limit."""
        return (self.share(count) * limit).astype(np.int64)

    def tries(self, chance: float, count: int) -> Numbers:
        """How often in a row something happens that has this chance each time; 40 at most."""
        share = self.share(count)
        times = np.zeros(count, np.int64)
        left = chance
        for _ in range(40):
            happened = share < left
            if not happened.any():
                break
            times += happened
            left *= chance
        return times

    def waits(self, mean: int, count: int) -> Numbers:
        """Whole waiting times: most short, few long, none above twenty times the mean."""
        times = np.minimum(-np.log1p(-self.share(count)), 20.0)
        return (times * mean).astype(np.int64)

    def choose(self, low: int, high: int, count: int) -> list[int]:
        """Different numbers from ``low`` up to, but without, ``high``, as they were drawn."""
        found: dict[int, None] = {}
        for number in self._endless(low, high):
            if len(found) == count:
                break
            found[number] = None
        return list(found)

    def _endless(self, low: int, high: int) -> Iterator[int]:
        while True:
            yield from (low + self.below(high - low, 64)).tolist()


def runs(starts: Numbers, lengths: Numbers) -> tuple[Numbers, Numbers]:
    """The places of runs that begin at ``starts``, and how far inside its run each place is.

    >>> place, inside = runs(np.array([0, 5]), np.array([2, 3]))
    >>> place.tolist(), inside.tolist()
    ([0, 1, 5, 6, 7], [0, 1, 0, 1, 2])
    """
    before = np.cumsum(lengths) - lengths
    inside = np.arange(int(lengths.sum())) - np.repeat(before, lengths)
    return np.repeat(starts, lengths) + inside, inside
