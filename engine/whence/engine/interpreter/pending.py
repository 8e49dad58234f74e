"""Verdicts that are not known yet: by processor, and inside a Slice by slice.

A temporal operator of the chain itself has a number: how many verdicts wait. A Slice has three:
how many of its slices are not decided yet, how many slices there are, and how many verdicts wait in
them. A Slice that takes the first output of each slice waits only for slices without one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

__all__ = ["InSlices", "Pending", "in_slices", "pending_count", "pending_text", "summed"]

InSlices: TypeAlias = dict[str, int]
Pending: TypeAlias = dict[str, int | InSlices]
"""By processor: how many verdicts wait; of a Slice ``slices``, ``of`` and ``verdicts``."""


def in_slices(waiting: Iterable[int]) -> InSlices:
    """What a Slice has pending, by the number of verdicts that wait in each of its slices.

    >>> in_slices([0, 2, 1])
    {'slices': 2, 'of': 3, 'verdicts': 3}
    """
    counts = list(waiting)
    return {
        "slices": sum(1 for count in counts if count),
        "of": len(counts),
        "verdicts": sum(counts),
    }


def summed(parts: Iterable[Mapping[str, int | InSlices]]) -> Pending:
    """What several tasks have pending, each for other slices; processors without any left out."""
    found: Pending = {}
    for part in parts:
        for name, more in part.items():
            known = found.get(name)
            if isinstance(more, int):
                found[name] = more + (known if isinstance(known, int) else 0)
            else:
                before = known if isinstance(known, dict) else {}
                found[name] = {word: n + before.get(word, 0) for word, n in more.items()}
    return {name: one for name, one in found.items() if pending_count(one)}


def pending_count(one: int | Mapping[str, int]) -> int:
    """How many verdicts of a processor wait."""
    return one if isinstance(one, int) else one["verdicts"]


def pending_text(pending: Mapping[str, int | Mapping[str, int]]) -> str:
    """What is pending, in words.

    >>> pending_text({"rule/G": 1, "paid": {"slices": 918, "of": 1735, "verdicts": 2100}})
    'rule/G 1, paid 918 of 1,735 slices'
    """
    return ", ".join(
        f"{name} {one:,}"
        if isinstance(one, int)
        else f"{name} {one['slices']:,} of {one['of']:,} slices"
        for name, one in pending.items()
    )
