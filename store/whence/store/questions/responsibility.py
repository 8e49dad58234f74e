"""Responsibility: how much an output with alternatives rests on one input event."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import TypeVar

__all__ = ["responsibilities"]

Input = TypeVar("Input")

STEPS = 20_000
"""So many sets of inputs are tried for one input; then what is known is a bound."""


def responsibilities(
    witnesses: Sequence[Collection[Input]],
) -> dict[Input, tuple[Fraction, bool]]:
    """Of every input of some witnesses 1/(1+m), m the fewest others without which it is necessary.

    Without these m the output still has a witness, and each that is left contains the input.

    >>> found = responsibilities([{"a"}, {"b", "c"}])
    >>> {name: str(share) for name, (share, _) in sorted(found.items())}
    {'a': '1/2', 'b': '1/2', 'c': '1/2'}

    Args:
        witnesses: sets of inputs, each of which explains the output by itself.

    Returns:
        The share, and whether it is exact; else it is at most that.
    """
    sets = [frozenset(each) for each in witnesses]
    return {each: _responsibility(each, sets) for each in dict.fromkeys(i for s in sets for i in s)}


def _responsibility(one: Input, sets: list[frozenset[Input]]) -> tuple[Fraction, bool]:
    others = [each for each in sets if one not in each]
    if not others:
        return Fraction(1), True
    kept = [each for each in sets if one in each]
    steps = 0
    for many in range(1, len(others) + 1):
        for witness in kept:
            to_hit = [each - witness for each in others]
            found, steps = _hits(to_hit, many, steps)
            if found:
                return Fraction(1, 1 + many), True
            if steps > STEPS:
                return Fraction(1, 1 + many), False
    # Another witness lies within each that contains it: it is never necessary.
    return Fraction(0), True


def _hits(sets: list[frozenset[Input]], many: int, steps: int) -> tuple[bool, int]:
    """Whether so many inputs can meet every one of these sets."""
    stack: list[tuple[list[frozenset[Input]], int]] = [(sets, many)]
    while stack and steps <= STEPS:
        steps += 1
        left, more = stack.pop()
        if not left:
            return True, steps
        if more == 0:
            continue
        smallest = min(left, key=len)
        for each in smallest:
            stack.append(([s for s in left if each not in s], more - 1))
    return False, steps
