"""Constraints 30 to 49: no event comes strictly before itself.

Only a derivation puts one event strictly before another (42), so a document breaks the order of
events just if a derivation lies on a cycle.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from whence.exporters.validating.components import components
from whence.exporters.validating.events import Events
from whence.exporters.validating.report import Violations

__all__ = ["Order", "check_order", "order_of", "way"]

_STRICT = 42


@dataclass(frozen=True)
class Order:
    """The events in an order that fits all edges, as far as there is one.

    Attributes:
        before: of each edge, the event that precedes, as its place in ``nodes``.
        after: likewise the event that follows.
        nodes: the events.
        leads: for each event, where its edges begin and end in ``by_source``.
        by_source: the edges, those of one event side by side.
        settled: the events not reachable from a cycle, each after all that precede it.
        groups: for all others the component; higher numbers precede.
    """

    before: list[int]
    after: list[int]
    nodes: list[int]
    leads: list[int]
    by_source: list[int]
    settled: list[int]
    groups: dict[int, int]


def order_of(events: Events) -> Order:
    """Sort the events; what lies on cycles, or behind one, is grouped."""
    count = len(events.before)
    ends = np.concatenate(
        [np.frombuffer(events.before, np.int64), np.frombuffer(events.after, np.int64)]
    ) if count else np.zeros(0, np.int64)  # fmt: skip
    nodes, places = np.unique(ends, return_inverse=True)
    before, after = places[:count], places[count:]
    by_source = np.argsort(before, kind="stable")
    leads = np.searchsorted(before[by_source], np.arange(len(nodes) + 1))
    waits: list[int] = np.bincount(after, minlength=len(nodes)).tolist()
    one, other, starts, edges = before.tolist(), after.tolist(), leads.tolist(), by_source.tolist()
    settled = [node for node, many in enumerate(waits) if not many]
    for node in settled:  # grows while it is gone through
        for at in range(starts[node], starts[node + 1]):
            follower = other[edges[at]]
            waits[follower] -= 1
            if not waits[follower]:
                settled.append(follower)
    groups: dict[int, int] = {}
    if len(settled) < len(nodes):
        groups = components(
            (a, b) for a, b in zip(one, other, strict=True) if waits[a] > 0 and waits[b] > 0
        )
    return Order(one, other, nodes.tolist(), starts, edges, settled, groups)


def check_order(events: Events, order: Order, found: Violations, rule: str = "C42") -> bool:
    """Report every component in which one event is strictly before another; whether there is one.

    Args:
        events: the events and what precedes what.
        order: the same, sorted.
        found: where to report.
        rule: what is broken: by the standard, or beyond it.
    """
    groups, numbers = order.groups, events.numbers
    reported: set[int] = set()
    for edge, (one, other) in enumerate(zip(order.before, order.after, strict=True)):
        if numbers[edge] != _STRICT or one not in groups:
            continue
        group = groups[one]
        if groups.get(other) != group or group in reported:
            continue
        reported.add(group)
        if found.full(rule):
            found.add(rule, "")
            continue
        path = [edge, *way(order, other, one)]
        steps = [events.what(order.nodes[order.before[each]]) for each in path]
        instance = events.instance
        also = {f"C{numbers[each]}" for each in path} - {rule}
        found.add(
            rule,
            f"{steps[0]} would be strictly before itself"
            + (f", by way of {_listed(steps[1:])}" if len(steps) > 1 else ""),
            [instance.shown(events.origins[events.reasons[each]]) for each in path],
            also=sorted(also),
            bundle=instance.name,
            standard=rule == "C42",
        )
    return bool(reported)


def _listed(steps: list[str]) -> str:
    few = steps[:4]
    return ", ".join(few) + (f" and {len(steps) - len(few)} more" if len(steps) > len(few) else "")


def way(order: Order, start: int, goal: int) -> list[int]:
    """The edges of a shortest way inside one component."""
    group = order.groups[start]
    came: dict[int, int] = {start: -1}
    waiting = deque([start])
    while waiting and goal not in came:
        node = waiting.popleft()
        for at in range(order.leads[node], order.leads[node + 1]):
            edge = order.by_source[at]
            follower = order.after[edge]
            if follower not in came and order.groups.get(follower) == group:
                came[follower] = edge
                waiting.append(follower)
    path: list[int] = []
    node = goal
    while node != start:
        path.append(came[node])
        node = order.before[came[node]]
    return path[::-1]
