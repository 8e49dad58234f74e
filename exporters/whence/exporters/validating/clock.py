"""Beyond the standard: clock times that contradict the order of events.

PROV-CONSTRAINTS compares no times of different events, because clocks differ. Inside one system
they should not: what was erased at noon was not used at one. Events at one and the same time are
in order, whichever comes first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from whence.exporters.prov.reading.instance import Origin
from whence.exporters.validating.events import Events
from whence.exporters.validating.ordering import Order, way
from whence.exporters.validating.report import Violations

__all__ = ["check_clock"]

Told = tuple[int, Origin]
"""A time, and the statement that has it."""


def check_clock(events: Events, order: Order, found: Violations) -> None:
    """Report events that happen, by the clock, before an event that precedes them."""
    if sum(len(several) for several in events.times.values()) < 2:
        return
    _Clock(events, order, found).check()


class _Clock:
    """Carries the latest time known so far along the order; with and without a zone apart."""

    def __init__(self, events: Events, order: Order, found: Violations) -> None:
        self.events, self.order, self.found = events, order, found
        self.times = events.instance.document.times
        self.latest: dict[int, dict[bool, tuple[Told, int, int]]] = {}

    def check(self) -> None:
        places = {node: place for place, node in enumerate(self.order.nodes)}
        for node, several in self.events.times.items():
            self._simultaneous(node, several)
            if node in places:
                for told in several:
                    self._later(places[node], told, places[node], -1)
        for members in self._groups():
            if len(members) > 1:
                self._level(members)
            for node in members:
                self._follow(node)

    def _level(self, members: list[int]) -> None:
        """What is on a cycle is simultaneous, so the latest of its times holds for all."""
        latest: dict[bool, tuple[Told, int, int]] = {}
        for node in members:
            for zoned, known in self.latest.get(node, {}).items():
                value = self.times.value(known[0][0])
                if zoned not in latest or self.times.value(latest[zoned][0][0]) < value:
                    latest[zoned] = known
        for told, source, _ in latest.values():
            for node in members:
                self._against(node, told, source, -1)
                self._later(node, told, source, -1)

    def _groups(self) -> Iterator[list[int]]:
        for node in self.order.settled:
            yield [node]
        by_group: dict[int, list[int]] = {}
        for node, group in self.order.groups.items():
            by_group.setdefault(group, []).append(node)
        for group in sorted(by_group, reverse=True):
            yield by_group[group]

    def _follow(self, node: int) -> None:
        known = self.latest.get(node)
        if known is None:
            return
        order = self.order
        for at in range(order.leads[node], order.leads[node + 1]):
            edge = order.by_source[at]
            follower = order.after[edge]
            group = order.groups.get(node)
            if group is not None and order.groups.get(follower) == group:
                continue  # levelled already
            for told, source, _ in list(known.values()):
                self._against(follower, told, source, edge)
                self._later(follower, told, source, edge)

    def _later(self, node: int, told: Told, source: int, edge: int) -> None:
        known = self.latest.setdefault(node, {})
        value, zoned = self.times.value(told[0])
        if zoned not in known or self.times.value(known[zoned][0][0])[0] < value:
            known[zoned] = (told, source, edge)

    def _against(self, node: int, earlier: Told, source: int, edge: int) -> None:
        """Compare the times of an event with one that must not be later."""
        for told in self.events.times.get(self.order.nodes[node], ()):
            if self.times.after(earlier[0], told[0]):
                self._report(node, told, source, earlier, edge)
                return

    def _report(self, node: int, told: Told, source: int, earlier: Told, edge: int) -> None:
        if self.found.full("clock"):
            self.found.add("clock", "", standard=False)
            return
        events, texts = self.events, self.times.texts
        path = list(self._path(edge, earlier))
        if edge < 0:
            path = way(self.order, source, node)
        origins = [earlier[1], *(events.origins[events.reasons[e]] for e in path), told[1]]
        self._add(
            f"{events.what(self.order.nodes[source])} at {texts[earlier[0]]} is later than "
            f"{events.what(self.order.nodes[node])} at {texts[told[0]]}, which must not precede it",
            origins,
            sorted({f"C{events.numbers[e]}" for e in path}),
        )

    def _path(self, edge: int, earlier: Told) -> Iterator[int]:
        """The edges back to where the earlier time was stated."""
        seen = set()
        while edge >= 0 and edge not in seen:
            seen.add(edge)
            yield edge
            known = self.latest.get(self.order.before[edge], {})
            edge = next((via for told, _, via in known.values() if told == earlier), -1)

    def _simultaneous(self, node: int, several: list[Told]) -> None:
        first = several[0]
        for told in several[1:]:
            if not self.times.same(first[0], told[0]):
                one, other = self.times.texts[first[0]], self.times.texts[told[0]]
                number = self.events.simultaneous(node)
                self._add(
                    f"{self.events.what(node)} is at {one} and at {other}",
                    [first[1], told[1]],
                    [] if number is None else [number],
                )
                return

    def _add(self, message: str, origins: Iterable[Origin], also: Iterable[str]) -> None:
        instance = self.events.instance
        shown = [instance.shown(origin) for origin in origins]
        self.found.add("clock", message, shown, also=also, bundle=instance.name, standard=False)
