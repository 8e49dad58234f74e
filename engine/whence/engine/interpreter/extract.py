"""From a tracked run to association rows: what is kept, and what each kept event leads to.

By ``ends`` the chain's outputs are kept, and the events inside Slices that stand for a slice; by
``steps`` the events of every processor. Whatever lies between is passed through.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from whence.engine.associations import LOG_PREFIX, Association, Relation
from whence.engine.events import Event, Position, Shelf
from whence.engine.explanation import alternatives
from whence.engine.interpreter.reach import PASS, Asked, Reach, Reacher
from whence.engine.interpreter.run import Interpreter
from whence.engine.intervals import Intervals, contains, count, minus, positions, union
from whence.engine.processors.slice import SliceMachine
from whence.engine.tracker import MemoryTracker

__all__ = ["INNER_WIDTH", "Detail", "Extractor", "KeptStream", "Role"]

Detail = Literal["ends", "steps"]
Role = Literal["output", "step", "inner", "heads", "end"]

INNER_WIDTH = 2**16
"""How many events a stream inside a Slice may have at one position of the whole stream."""
LITERAL = 16
"""Up to so many inputs an output names one by one; more of them are kept as bands."""


@dataclass(frozen=True, slots=True)
class KeptStream:
    """A stream that the record has.

    Attributes:
        name: as in the record.
        processor: the processor's full id.
        pipe: its output pipe.
        role: what it is to the chain.
        w: by what the outer position is multiplied, inside a Slice.
        shelf: where its events are; ``None`` for heads and ends.
    """

    name: str
    processor: str
    pipe: int
    role: Role
    w: int
    shelf: Shelf | None


class Extractor:
    """Turns the events of a tracked run into rows, as far as the run has come.

    Args:
        interpreter: a run with a `MemoryTracker`.
        detail: ``ends`` or ``steps``.
        where: which outputs are told of; all, unless given.
    """

    def __init__(
        self,
        interpreter: Interpreter,
        detail: Detail = "ends",
        where: Callable[[Event], bool] | None = None,
    ) -> None:
        """Decide what is kept; no event is looked at yet."""
        self.interpreter = interpreter
        self.where = where
        self.streams: list[KeptStream] = list(_kept(interpreter, detail))
        self._by_stream: dict[int, KeptStream] = {
            id(kept.shelf.stream): kept for kept in self.streams if kept.shelf is not None
        }
        self._slices = [
            (step.name, machine)
            for step, machine in zip(interpreter.steps, interpreter.machines, strict=True)
            if isinstance(machine, SliceMachine)
        ]
        self._heads = {id(machine.heads): f"{name}/heads" for name, machine in self._slices}
        self._head_names = set(self._heads.values())
        self._open: dict[str, dict[int, tuple[int, Event]]] = {n: {} for n, _ in self._slices}
        self._reacher = Reacher(self._place)
        tracker = interpreter.tracker
        self._all = isinstance(tracker, MemoryTracker) and tracker.witnesses == "all"
        self._every = Reacher(self._place, every=True)
        self.cut = 0

    def _place(self, event: Event) -> tuple[str, int] | None:
        stream = event.stream
        assert stream is not None
        if stream.is_log and isinstance(event.position, int):
            return LOG_PREFIX + stream.name, event.position
        name = self._heads.get(id(stream))
        if name is not None:
            many = isinstance(event.value, int) and event.value > LITERAL
            return (name, event.position) if many and isinstance(event.position, int) else None
        kept = self._by_stream.get(id(stream))
        return None if kept is None else (kept.name, self.position(kept, event))

    def position(self, kept: KeptStream, event: Event) -> int:
        """The position in the record of a kept event."""
        if isinstance(event.position, int):
            return event.position
        outer, index = event.position
        assert isinstance(outer, int)
        return outer * kept.w + index

    def rows(self, kept: KeptStream, events: list[Event]) -> Iterator[Association]:
        """What these events of a stream lead to; neighbours in order, bands joined."""
        runs: dict[tuple[Relation, str, Asked], _Run] = {}
        for event in events:
            if kept.role == "output" and self.where is not None and not self.where(event):
                continue
            at = self.position(kept, event)
            sets = alternatives(event.why, place=self._place) if self._all else None
            if sets is not None and len(sets.sets) > 1:
                self.cut += sets.cut
                yield from self._alternatives(kept.name, at, event, sets.sets)
                continue
            for relation, to, asked, places in self._leads(event):
                few = count(places) <= LITERAL and to not in self._head_names
                if few or len(places) != 1:
                    yield from _literal(kept.name, relation, at, to, asked, places)
                    continue
                (place,) = places
                key = (relation, to, asked)
                run = runs.get(key)
                if run is not None and run.extend(at, place):
                    continue
                if run is not None:
                    yield run.row(kept.name, relation, to, asked)
                runs[key] = _Run(at, place)
        for (relation, to, asked), run in runs.items():
            yield run.row(kept.name, relation, to, asked)

    def _leads(self, event: Event) -> Iterator[tuple[Relation, str, Asked, Intervals]]:
        asked = PASS if event.stream is not None and event.stream.copies else None
        why = self._reach(self._reacher, event, asked, support=False)
        enough = self._reach(self._reacher, event, asked, support=True)
        for (to, fields), places in why.items():
            rest = places
            for (other, _), held in enough.items():
                rest = minus(rest, held) if other == to else rest
            safe = minus(places, rest)
            if safe:
                yield "explains", to, fields, safe
            if rest:
                yield "trigger", to, fields, rest
        for (to, fields), places in enough.items():
            rest = minus(places, why.get((to, fields), ()))
            if rest:
                yield "supports", to, fields, rest

    def _alternatives(
        self,
        stream: str,
        at: int,
        event: Event,
        sets: Sequence[frozenset[tuple[str, Position]]],
    ) -> Iterator[Association]:
        """One row per event of any witness, with the numbers of the witnesses that it is in."""
        asked = PASS if event.stream is not None and event.stream.copies else None
        enough = self._reach(self._reacher, event, asked, support=True)
        for (to, fields), places in self._reach(self._every, event, asked, support=False).items():
            for position in positions(places):
                numbers = tuple(n for n, s in enumerate(sets) if (to, position) in s)
                if not numbers:
                    continue  # only in a set that contains another one
                held = any(o == to and contains(p, position) for (o, _), p in enough.items())
                yield Association(
                    stream,
                    "explains" if held and 0 in numbers else "trigger",
                    "list",
                    at,
                    at,
                    to,
                    (position,),
                    fields=_fields(fields),
                    copy=fields is PASS,
                    witness=None if len(numbers) == len(sets) else numbers,
                )
        why = self._reach(self._reacher, event, asked, support=False)
        for (to, fields), places in enough.items():
            rest = minus(places, why.get((to, fields), ()))
            if rest:
                yield from _literal(stream, "supports", at, to, fields, rest)

    def _reach(self, reacher: Reacher, event: Event, asked: Asked, *, support: bool) -> Reach:
        found: Reach = {}
        for term, fields in reacher.below_event(event, asked, support):
            for key, places in reacher.reach(term, fields, support=support).items():
                found[key] = union(found[key], places) if key in found else places
        return _without_mere_presence(found)

    def head_rows(self, processor: str) -> Iterator[Association]:
        """The zones of a Slice's heads that began or ended since the last call."""
        machine = next(m for name, m in self._slices if name == processor)
        open_zones = self._open[processor]
        changes, machine.changes = machine.changes, []
        began: dict[int, tuple[int, Event]] = {}
        for slot, at, head in changes:
            if slot in open_zones:
                lo, before = open_zones[slot]
                if lo < at:
                    yield self._zone(processor, lo, at - 1, before)
                began.pop(slot, None)
            open_zones[slot] = began[slot] = (at, head)
        for lo, head in began.values():
            yield self._zone(processor, lo, None, head)

    def _zone(self, processor: str, lo: int, hi: int | None, head: Event) -> Association:
        to, position = self._place(head) or ("", -1)
        return Association(f"{processor}/heads", "explains", "zone", lo, hi, to, (position,))

    def end_rows(self) -> Iterator[Association]:
        """What the end of each output pipe leans on."""
        for number, name in enumerate(self.interpreter.chain.outputs):
            end = self.interpreter.end(number)
            for (to, fields), places in self._reacher.reach(end, None, support=True).items():
                stream = f"{name}/end"
                yield from _literal(stream, "supports", 0, to, fields, places)


def _kept(interpreter: Interpreter, detail: Detail) -> Iterator[KeptStream]:
    # An output has the name that the chain gives it, also where a Group's inside says it.
    exits = dict(zip(interpreter.plan.exits, interpreter.chain.outputs, strict=True))
    for number, step in enumerate(interpreter.steps):
        for pipe, shelf in enumerate(step.shelves):
            several = len(step.shelves) > 1
            name = f"{step.name}.{pipe}" if several else step.name
            if (number, pipe) in exits:
                yield KeptStream(exits[number, pipe], step.name, pipe, "output", 1, shelf)
            elif detail == "steps":
                yield KeptStream(name, step.name, pipe, "step", 1, shelf)
    for step, machine in zip(interpreter.steps, interpreter.machines, strict=True):
        if not isinstance(machine, SliceMachine):
            continue
        inner = machine.inner
        for number, inside in enumerate(inner.steps):
            for pipe, shelf in enumerate(inside.shelves):
                if detail == "steps" or (number, pipe) in inner.exits:
                    several = len(inside.shelves) > 1
                    name = f"{inside.name}.{pipe}" if several else inside.name
                    yield KeptStream(name, inside.name, pipe, "inner", INNER_WIDTH, shelf)
        yield KeptStream(f"{step.name}/heads", step.name, 0, "heads", 1, None)
    for name in interpreter.chain.outputs:
        yield KeptStream(f"{name}/end", name, 0, "end", 1, None)


def _without_mere_presence(found: Reach) -> Reach:
    """Where fields of an event matter, it goes without saying that it is there."""
    for to, fields in [key for key in found if key[1] == frozenset()]:
        rest = found.pop((to, fields))
        for (other, _), places in found.items():
            rest = minus(rest, places) if other == to else rest
        if rest:
            found[to, fields] = rest
    return found


def _literal(
    stream: str, relation: Relation, at: int, to: str, asked: Asked, places: Intervals
) -> Iterator[Association]:
    """One row that lists the positions; long stretches among them are bands of their own.

    Heads are no events that could be listed: what leads there is always a band.
    """
    longest = 0 if to.endswith("/heads") else LITERAL
    short = tuple(p for lo, hi in places if hi - lo < longest for p in range(lo, hi + 1))
    if short:
        yield Association(
            stream, relation, "list", at, at, to, short, fields=_fields(asked), copy=asked is PASS
        )
    for place in places:
        if place[1] - place[0] >= longest:
            yield _Run(at, place).row(stream, relation, to, asked)


def _fields(asked: Asked) -> tuple[str, ...] | None:
    return None if asked is None or asked is PASS else tuple(sorted(asked))


class _Run:
    """Neighbouring outputs whose single intervals go on in step."""

    __slots__ = ("first", "hi", "last", "lo", "steps")

    def __init__(self, at: int, place: tuple[int, int]) -> None:
        self.lo = self.hi = at
        self.first = self.last = place
        self.steps: tuple[int, int] | None = None

    def extend(self, at: int, place: tuple[int, int]) -> bool:
        if at != self.hi + 1:
            return False
        steps = (place[0] - self.last[0], place[1] - self.last[1])
        if not set(steps) <= {0, 1} or (self.steps is not None and steps != self.steps):
            return False
        self.steps, self.hi, self.last = steps, at, place
        return True

    def row(self, stream: str, relation: Relation, to: str, asked: Asked) -> Association:
        sa, sb = self.steps or (0, 0)
        return Association(
            stream,
            relation,
            "band",
            self.lo,
            self.hi,
            to,
            a=self.first[0] - self.lo * sa,
            b=self.first[1] - self.lo * sb,
            sa=sa,
            sb=sb,
            fields=_fields(asked),
            copy=asked is PASS,
        )
