"""The events that statements imply, and which of them precedes which (constraints 30 to 49).

All generations of an entity are simultaneous (39), and so are its invalidations (40) and the starts
and ends of an activity (31, 32). So there is one node for each of these; only usages stand alone.
Constraints apply to events that exist: because a statement implies them, or because the entity or
activity is declared. Ends and invalidations without statements have no successors and are left out.
"""

from __future__ import annotations

from array import array
from functools import cached_property

import numpy as np

from whence.exporters.prov.reading.instance import Instance, Origin
from whence.exporters.validating.uniqueness import Normal, declared

__all__ = ["Events"]

_GENERATION, _INVALIDATION, _START, _END = range(4)
_WHAT = ("the generation of", "the invalidation of", "the start of", "the end of")
_MANY = (39, 40, 31, 32)


class Events:
    """The graph of one instance.

    Attributes:
        before: of each edge, the event that precedes.
        after: the event that follows.
        numbers: the constraint; only 42 is strict.
        reasons: the statement that it rests on, as its place in ``origins``.
        times: the stated times of an event, each with its statement.
    """

    def __init__(self, instance: Instance, normal: Normal, *, assume: bool = False) -> None:
        """Find all events and edges.

        Args:
            instance: the statements.
            normal: the same, merged.
            assume: take every entity as generated and every activity as started, stated or not.
        """
        self.instance, self.normal = instance, normal
        self.before, self.after, self.reasons = array("q"), array("q"), array("q")
        self.numbers = bytearray()
        self.origins: list[Origin] = []
        self.times: dict[int, list[tuple[int, Origin]]] = {}
        size = len(instance.texts)
        self.size = size
        self.generated = bytearray(b"\1" * size if assume else size)
        self.started = bytearray(b"\1" * size if assume else size)
        self.ended = bytearray(size)
        self.gone = bytearray(size)
        self._existing()
        self._activities()
        self._usages()
        self._derivations()
        self._specializations()
        self._agents()

    @property
    def complete(self) -> bool:
        """Whether every derivation is between entities whose generation is stated or follows."""
        generated = self.generated
        return all(generated[name] for c in self.normal["wasDerivedFrom"].slots[:2] for name in c)

    def touched(self, text: str) -> bool:
        """Whether what has this name has an event that an edge touches, or that has a time."""
        number = self.instance.known(text)
        return bool(number) and self._touched[number]

    @cached_property
    def _touched(self) -> list[bool]:
        nodes = np.array([*self.times], np.int64)
        ends = (np.frombuffer(each, np.int64) for each in (self.before, self.after))
        names = np.concatenate([nodes, *ends]) // 4
        found = np.zeros(self.size, bool)
        found[names[names < self.size]] = True
        return list(found.tolist())

    def what(self, node: int) -> str:
        """An event in words."""
        short, texts = self.instance.document.short, self.instance.texts
        if node < 4 * self.size:
            return f"{_WHAT[node % 4]} {short(texts[node // 4])}"
        used, row = self.normal["used"], node - 4 * self.size
        if used.ids[row]:
            return f"the usage {short(texts[used.ids[row]])}"
        return f"the usage of {short(texts[used.slots[1][row]])}"

    def simultaneous(self, node: int) -> str | None:
        """The constraint by which all times of an event are the same."""
        return f"C{_MANY[node % 4]}" if node < 4 * self.size else None

    def _edge(self, before: int, after: int, number: int, origin: Origin) -> None:
        self.before.append(before)
        self.after.append(after)
        self.numbers.append(number)
        self.reasons.append(len(self.origins))
        self.origins.append(origin)

    def _timed(self, node: int, time: int, origin: Origin) -> None:
        if time:
            self.times.setdefault(node, []).append((time, origin))

    def _existing(self) -> None:
        """Which entities and activities have which events."""
        normal, generated, started = self.normal, self.generated, self.started
        for entity in declared(normal):
            generated[entity] = self.gone[entity] = 1
        # Of an unstated invalidation only what follows it matters.
        lasting = bytearray(self.size)
        for word in ("specializationOf", "mentionOf"):
            for one in normal[word].slots[0]:
                lasting[one] = self.gone[one]
        self.gone = lasting
        for activity in normal["activity"].ids:
            started[activity] = 1
        for activity, time in zip(normal["activity"].ids, normal["activity"].times[1], strict=True):
            self.ended[activity] |= time > 0
        for word, slot, flags in (
            ("wasGeneratedBy", 0, generated),
            ("wasAttributedTo", 0, generated),
            ("wasInvalidatedBy", 0, self.gone),
            ("wasStartedBy", 0, started),
            ("wasStartedBy", 1, generated),
            ("wasEndedBy", 0, self.ended),
            ("wasEndedBy", 1, generated),
        ):
            for name in normal[word].slots[slot]:
                flags[name] = 1
        for flags in (generated, started, self.ended, self.gone):
            flags[0] = 0

    def _activities(self) -> None:
        table = self.normal["activity"]
        for row, activity in enumerate(table.ids):
            origin = table.origin(row)
            self._timed(4 * activity + _START, table.times[0][row], origin)
            self._timed(4 * activity + _END, table.times[1][row], origin)
            if self.ended[activity]:
                self._edge(4 * activity + _START, 4 * activity + _END, 30, origin)
        declared = set(table.ids)
        for word, which, number in (("wasStartedBy", _START, 43), ("wasEndedBy", _END, 44)):
            table = self.normal[word]
            for row, (activity, trigger, other) in enumerate(zip(*table.slots, strict=True)):
                if not activity:
                    continue
                origin, own = table.origin(row), 4 * activity + which
                self._timed(own, table.times[0][row], origin)
                if which == _END and activity not in declared and self.started[activity]:
                    self._edge(4 * activity + _START, own, 30, origin)
                if trigger:
                    self._edge(4 * trigger + _GENERATION, own, number, origin)
                    self._within(other, 4 * trigger + _GENERATION, 34, origin)
                    if self.gone[trigger]:
                        self._edge(own, 4 * trigger + _INVALIDATION, number, origin)
                elif other and self.started[other]:
                    # It generated what started or ended the activity, whatever that was.
                    self._edge(4 * other + _START, own, number, origin)
        table = self.normal["wasInformedBy"]
        for row, (informed, informant) in enumerate(zip(*table.slots, strict=True)):
            if self.ended[informed] and self.started[informant]:
                origin = table.origin(row)
                self._edge(4 * informant + _START, 4 * informed + _END, 35, origin)

    def _within(self, activity: int, node: int, number: int, origin: Origin) -> None:
        if self.started[activity]:
            self._edge(4 * activity + _START, node, number, origin)
        if self.ended[activity]:
            self._edge(node, 4 * activity + _END, number, origin)

    def _usages(self) -> None:
        for word, which in (("wasGeneratedBy", _GENERATION), ("wasInvalidatedBy", _INVALIDATION)):
            table = self.normal[word]
            for row, (entity, activity) in enumerate(zip(*table.slots, strict=True)):
                origin, node = table.origin(row), 4 * entity + which
                self._timed(node, table.times[0][row], origin)
                if which == _GENERATION:
                    self._within(activity, node, 34, origin)
                elif self.generated[entity]:
                    self._edge(4 * entity + _GENERATION, node, 36, origin)
        table = self.normal["used"]
        for row, (activity, entity) in enumerate(zip(*table.slots, strict=True)):
            origin, node = table.origin(row), 4 * self.size + row
            self._timed(node, table.times[0][row], origin)
            self._within(activity, node, 33, origin)
            if self.generated[entity]:
                self._edge(4 * entity + _GENERATION, node, 37, origin)
            if self.gone[entity]:
                self._edge(node, 4 * entity + _INVALIDATION, 38, origin)

    def _derivations(self) -> None:
        table, generated = self.normal["wasDerivedFrom"], self.generated
        slots = table.slots
        for row, (made, source) in enumerate(zip(slots[0], slots[1], strict=True)):
            if generated[made] and generated[source]:
                self._edge(4 * source, 4 * made, 42, table.origin(row))
        if any(slots[4]):
            used = {id: row for row, id in enumerate(self.normal["used"].ids) if id}
            for row, (made, activity, usage) in enumerate(
                zip(slots[0], slots[2], slots[4], strict=True)
            ):
                if activity and usage and generated[made]:
                    self._edge(4 * self.size + used[usage], 4 * made, 41, table.origin(row))

    def _specializations(self) -> None:
        for word in ("specializationOf", "mentionOf"):
            table = self.normal[word]
            for row, (one, general) in enumerate(zip(*table.slots[:2], strict=True)):
                origin = table.origin(row)
                if one and general:
                    self._edge(4 * general, 4 * one, 45, origin)
                    self._edge(4 * one + _INVALIDATION, 4 * general + _INVALIDATION, 46, origin)

    def _agents(self) -> None:
        table = self.normal["wasAssociatedWith"]
        for row, (activity, agent, _) in enumerate(zip(*table.slots, strict=True)):
            self._associated(activity, agent, table.origin(row))
        table = self.normal["wasAttributedTo"]
        for row, (entity, agent) in enumerate(zip(*table.slots, strict=True)):
            origin = table.origin(row)
            if self.generated[agent]:
                self._edge(4 * agent, 4 * entity, 48, origin)
            if self.started[agent] and agent:
                self._edge(4 * agent + _START, 4 * entity, 48, origin)
        table = self.normal["actedOnBehalfOf"]
        for row, (delegate, responsible, activity) in enumerate(zip(*table.slots, strict=True)):
            origin = table.origin(row)
            if self.generated[responsible] and self.gone[delegate]:
                self._edge(4 * responsible, 4 * delegate + _INVALIDATION, 49, origin)
            if self.started[responsible] and self.ended[delegate]:
                self._edge(4 * responsible + _START, 4 * delegate + _END, 49, origin)
            for agent in (delegate, responsible):
                self._associated(activity, agent, origin)

    def _associated(self, activity: int, agent: int, origin: Origin) -> None:
        if not activity or not agent:
            return
        start, end = 4 * activity + _START, 4 * activity + _END
        if self.started[activity]:
            if self.gone[agent]:
                self._edge(start, 4 * agent + _INVALIDATION, 47, origin)
            if self.ended[agent]:
                self._edge(start, 4 * agent + _END, 47, origin)
        if self.ended[activity]:
            if self.generated[agent]:
                self._edge(4 * agent, end, 47, origin)
            if self.started[agent]:
                self._edge(4 * agent + _START, end, 47, origin)
