"""What was measured before, kept with the code: what became worse is named.

Another machine has other times, so only what hardly depends on the machine is compared: ratios of
runs in one go, and sizes. ``make baseline`` keeps what ``bench/results`` holds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.harness import Better, Result

__all__ = ["BASELINE", "COMPARED", "TOLERANCE", "Change", "against", "keep", "told"]

BASELINE = Path(__file__).parent / "baseline"
TOLERANCE = 0.15
"""From which share on a change for the worse is a regression."""
COMPARED = ("ratio", "bytes", "MB")
"""The units of what can be compared between machines."""


class Change(NamedTuple):
    """A result beside the one of the baseline.

    >>> Change("window.vs_sql", "ratio", 3.0, 2.0, "higher").worse
    0.5
    """

    id: str
    unit: str
    before: float
    now: float
    better: Better

    @property
    def worse(self) -> float:
        """By which share it became worse; below zero if it became better."""
        new, old = (self.now, self.before) if self.better == "lower" else (self.before, self.now)
        if old == 0:
            return 0.0 if new == 0 else float("inf")
        return new / old - 1

    @property
    def regression(self) -> bool:
        """Whether it became worse by more than may be noise."""
        return self.worse > TOLERANCE

    def __str__(self) -> str:
        by = "without bound" if self.worse == float("inf") else f"by {self.worse:.0%}"
        return (
            f"{self.id}: {self.now:,.4g} {self.unit}, was {self.before:,.4g}: worse {by} "
            f"({self.better} is better)"
        )


def against(name: str, results: Sequence[Result], folder: Path = BASELINE) -> list[Change] | None:
    """The results that can be compared beside those of the baseline; ``None`` if there is none.

    Args:
        name: the benchmark in whose file they stand.
        results: what was measured now.
        folder: where baselines are.
    """
    path = folder / f"{name}.json"
    if not any(each.unit in COMPARED for each in results):
        return []
    if not path.exists():
        return None
    kept = {each["id"]: each for each in _read(path)["results"]}
    return [
        Change(now.id, now.unit, kept[now.id]["value"], now.value, now.better)
        for now in results
        if now.id in kept and now.unit in COMPARED and kept[now.id]["unit"] == now.unit
    ]


def told(name: str, changes: list[Change] | None) -> Iterator[str]:
    """The report on them, line by line; every regression has its own."""
    if changes is None:
        yield f"{name}: no baseline yet: make baseline NAME={name} keeps this one"
        return
    if not changes:
        yield f"{name}: nothing that could be compared with a baseline"
        return
    worse = sorted((c for c in changes if c.regression), key=lambda c: c.worse, reverse=True)
    yield (
        f"{name}: {len(changes)} ratios and sizes compared with the baseline, "
        f"{len(worse)} worse by more than {TOLERANCE:.0%}"
    )
    yield from (f"regression: {change}" for change in worse)


def keep(results: Path, folder: Path = BASELINE) -> Path:
    """Make a file of results the baseline: what can be compared, with machine and versions."""
    content = _read(results)
    content["results"] = [each for each in content["results"] if each["unit"] in COMPARED]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / results.name
    fresh = path.with_suffix(".part")
    fresh.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    fresh.replace(path)
    return path


def _read(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content
