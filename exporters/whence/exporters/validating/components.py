"""Strongly connected components, in linear time and without recursion."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["components"]


def components(edges: Iterable[tuple[int, int]]) -> dict[int, int]:
    """The component of every node that an edge touches.

    A component's number is smaller than those of the components with edges to it, so that the
    numbers from high to low are a topological order.

    >>> components([(1, 2), (2, 3), (3, 2), (3, 4)])
    {4: 0, 3: 1, 2: 1, 1: 2}
    """
    leads: dict[int, list[int]] = {}
    for one, other in edges:
        leads.setdefault(one, []).append(other)
        leads.setdefault(other, [])
    found: dict[int, int] = {}
    seen: dict[int, int] = {}
    low: dict[int, int] = {}
    waiting: list[int] = []
    number = 0
    for root in leads:
        if root in seen:
            continue
        seen[root] = low[root] = len(seen)
        waiting.append(root)
        path = [(root, iter(leads[root]))]
        while path:
            node, rest = path[-1]
            for other in rest:
                if other not in seen:
                    seen[other] = low[other] = len(seen)
                    waiting.append(other)
                    path.append((other, iter(leads[other])))
                    break
                if other not in found and seen[other] < low[node]:
                    low[node] = seen[other]
            else:
                path.pop()
                if path and low[node] < low[path[-1][0]]:
                    low[path[-1][0]] = low[node]
                if low[node] == seen[node]:
                    member = -1
                    while member != node:
                        member = waiting.pop()
                        found[member] = number
                    number += 1
    return found
