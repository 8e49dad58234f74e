"""From choices within choices to a list of sets: every witness, the first one first.

Whoever knows the choices, the tracker in memory or the graph, says what each option needs; here the
options are multiplied out, without sets that contain another one, and bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from itertools import islice
from typing import Any, Protocol, TypeVar

__all__ = ["WITNESS_LIMIT", "Leaves", "witness_sets"]

WITNESS_LIMIT = 64
"""How many sets are kept."""
_WORK_LIMIT = 512
"""How many sets are kept while working: more than are shown, since smaller ones may yet come."""


class Leaves(Hashable, Protocol):
    """A set of events, as the one who asks keeps it."""

    def __or__(self, other: Any, /) -> Any:
        """Both sets together."""
        ...

    def __le__(self, other: Any, /) -> bool:
        """Whether the other set contains this one."""
        ...

    def __len__(self) -> int:
        """How many events there are."""
        ...


Set = TypeVar("Set", bound=Leaves)
Choice = TypeVar("Choice")


def witness_sets(
    root: Choice,
    options: Callable[[Choice], list[tuple[Set, list[Choice]]]],
    key: Callable[[Choice], Hashable],
    limit: int = WITNESS_LIMIT,
) -> tuple[tuple[Set, ...], bool]:
    """Every way to make all choices; say as well whether there were more than are kept.

    Args:
        root: the choice to begin with.
        options: of a choice, in order: what each needs in any case, and the choices it leads to.
        key: tells choices apart; a choice that is met again is worked out once.
        limit: how many sets are kept.

    >>> tree = {"top": [({1}, ["a"]), ({5}, [])], "a": [({2}, []), ({1, 3}, []), ({2, 4}, [])]}
    >>> opened = lambda name: [(frozenset(own), below) for own, below in tree[name]]
    >>> sets, cut = witness_sets("top", opened, lambda name: name)
    >>> [sorted(each) for each in sets], cut
    ([[1, 2], [1, 3], [5]], False)
    """
    done: dict[Hashable, tuple[list[Set], bool]] = {}
    opened: dict[Hashable, list[tuple[Set, list[Choice]]]] = {}
    stack = [root]
    while stack:
        choice = stack[-1]
        name = key(choice)
        if name in done:
            stack.pop()
            continue
        if name not in opened:
            opened[name] = options(choice)
        waiting = [c for _, below in opened[name] for c in below if key(c) not in done]
        if waiting:
            stack.extend(waiting)
            continue
        stack.pop()
        found: list[Set] = []
        cut = False
        for own, below in opened.pop(name):
            product = [own]
            for inner in below:
                sets, inner_cut = done[key(inner)]
                product, was_cut = _minimal(left | right for left in product for right in sets)
                cut = cut or inner_cut or was_cut
            found.extend(product)
        sets, was_cut = _minimal(iter(found))
        done[name] = (sets, cut or was_cut)
    sets, cut = done[key(root)]
    return tuple(sets[:limit]), cut or len(sets) > limit


def _minimal(sets: Iterator[Set]) -> tuple[list[Set], bool]:
    """Drop what contains another set; the first stays first. Bounded, and says when it was cut."""
    ordered = list(dict.fromkeys(islice(sets, _WORK_LIMIT * WITNESS_LIMIT)))
    cut = len(ordered) > _WORK_LIMIT or next(sets, None) is not None
    ordered = ordered[:_WORK_LIMIT]
    first, rest = ordered[0], ordered[1:]
    kept: list[Set] = []
    for candidate in sorted(rest, key=len):
        if not any(other <= candidate for other in kept) and not first <= candidate:
            kept.append(candidate)
    order = {s: n for n, s in enumerate(ordered)}
    return [first, *sorted(kept, key=order.__getitem__)], cut
