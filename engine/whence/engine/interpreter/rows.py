"""Associations as plain rows, for trackers that keep them in their own way."""

from __future__ import annotations

from collections.abc import Mapping

from whence.engine.interpreter.plan import Plan
from whence.engine.language.events import Either, Event, Part, Shelf, Stream, Term
from whence.engine.lineage.tracker import Tracker

__all__ = ["RowSource"]


class RowSource:
    """Tells a tracker, output by output, which of a processor's own inputs explain it."""

    def __init__(self, tracker: Tracker | None, plan: Plan, logs: Mapping[str, Shelf]) -> None:
        """Learn which streams each processor reads."""
        assert tracker is not None
        self.tracker = tracker
        streams: dict[tuple[int, int], Stream] = {
            (-1 - n, 0): log.stream for n, log in enumerate(logs.values())
        }
        self.places: list[tuple[Shelf, dict[int, int]]] = []
        for number, step in enumerate(plan.steps):
            reads: dict[int, int] = {}
            for pipe, source in enumerate(step.sources):
                reads.setdefault(id(streams[source]), pipe)
            for shelf in step.shelves:
                assert shelf is not None
                streams[number, shelf.stream.pipe] = shelf.stream
                self.places.append((shelf, reads))
        self.told = [0] * len(self.places)

    def report(self) -> None:
        """Hand over the associations of every event that appeared since the last call."""
        for place, (shelf, reads) in enumerate(self.places):
            stream, events = shelf.stream, shelf.events
            for event in events[self.told[place] :]:
                for in_pipe, in_pos in self._rows(event, reads):
                    assert isinstance(event.position, int)
                    self.tracker.associate(
                        stream.name, stream.pipe, event.position, in_pipe, in_pos
                    )
            self.told[place] = len(events)

    def _rows(self, event: Event, reads: Mapping[int, int]) -> list[tuple[int, int]]:
        """Walk from an output to the inputs of its processor, through what is inside it."""
        rows: set[tuple[int, int]] = set()
        seen: set[int] = set()
        stack: list[Term] = [event.why]
        while stack:
            item = stack.pop()
            if item is None or id(item) in seen:
                continue
            seen.add(id(item))
            if isinstance(item, Either):
                stack.append(item[0])
            elif isinstance(item, tuple):
                stack.extend(item)
            else:
                found = item.event if isinstance(item, Part) else item
                if id(found.stream) in reads and isinstance(found.position, int):
                    rows.add((reads[id(found.stream)], found.position))
                elif found is not event:
                    stack.append(found.why)
        return sorted(rows)
