"""From a tracked run to association rows: what is kept, and what each kept event leads to.

By ``ends`` the chain's outputs are kept, and the events inside Slices that stand for a slice; by
``steps`` the events of every processor. Whatever lies between is passed through.

With all witnesses, the *choices* that a kept stream meets on its way are kept too, each once: every
option leads on as an event would, with its number as witness.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from whence.engine.interpreter.plan import Plan
from whence.engine.interpreter.reach import PASS, Asked, Reach, Reacher
from whence.engine.interpreter.run import Interpreter
from whence.engine.language.events import Either, Event, Shelf, Term
from whence.engine.language.stream_roles import StreamRole
from whence.engine.lineage.association import (
    INNER_WIDTH,
    LOG_PREFIX,
    Association,
    Relation,
    too_many_inside,
)
from whence.engine.lineage.positions import Intervals, count, minus, union
from whence.engine.lineage.tracker import MemoryTracker
from whence.engine.processors.slice import SliceMachine

__all__ = ["Detail", "Extractor", "KeptStream", "ToldChoice"]

Detail = Literal["ends", "steps"]

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
        shelf: where its events are; ``None`` for choices, heads and ends.
    """

    name: str
    processor: str
    pipe: int
    role: StreamRole
    w: int
    shelf: Shelf | None


class ToldChoice(NamedTuple):
    """A choice that a stream met on its way.

    Attributes:
        number: its position among the choices of the stream.
        options: how many options it has.
        owner: the position of the stream's first event that leads there.
        rows: where the options lead to.
    """

    number: int
    options: int
    owner: int
    rows: list[Association]


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
        tracker = interpreter.tracker
        every = isinstance(tracker, MemoryTracker) and tracker.witnesses == "all"
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
        self._choices: dict[str, _Choices] = {}
        if every:
            for kept in [kept for kept in self.streams if kept.shelf is not None]:
                choices = _Choices(f"{kept.name}/choices", self._place)
                self._choices[kept.name] = choices
                self.streams.append(
                    replace(kept, name=choices.name, role=StreamRole.CHOICES, w=1, shelf=None)
                )

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
        if index >= kept.w:
            raise too_many_inside(kept.processor, kept.name, outer, kept.w)
        return outer * kept.w + index

    def rows(self, kept: KeptStream, events: list[Event]) -> Iterator[Association]:
        """What these events of a stream lead to; neighbours in order, bands joined."""
        runs: dict[tuple[Relation, str, Asked], _Run] = {}
        choices = self._choices.get(kept.name)
        reacher = self._reacher if choices is None else choices.reacher
        for event in events:
            if kept.role.is_output and self.where is not None and not self.where(event):
                continue
            at = self.position(kept, event)
            if choices is not None:
                choices.owner = at
            for relation, to, asked, places in _event_leads(reacher, event):
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

    def choices(self, kept: KeptStream) -> list[ToldChoice]:
        """The choices that the rows of a stream lead to and that were not told of yet."""
        known = self._choices.get(kept.name)
        return [] if known is None else list(known.told())

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


class _Choices:
    """The choices that one stream meets, numbered as they are met."""

    def __init__(self, name: str, place: Callable[[Event], tuple[str, int] | None]) -> None:
        self.name = name
        self.reacher = Reacher(place, self._number)
        self.owner = -1
        self.numbers: dict[int, int] = {}
        self.waiting: deque[tuple[Either, int]] = deque()

    def _number(self, choice: Either) -> tuple[str, int]:
        number = self.numbers.get(id(choice))
        if number is None:
            number = self.numbers[id(choice)] = len(self.numbers)
            self.waiting.append((choice, self.owner))
        return self.name, number

    def told(self) -> Iterator[ToldChoice]:
        """What was met since the last call, and what that leads to."""
        while self.waiting:
            choice, owner = self.waiting.popleft()
            number = self.numbers[id(choice)]
            rows = [
                row
                for option, term in enumerate(choice)
                for relation, to, asked, places in _term_leads(self.reacher, term)
                for row in _literal(self.name, relation, number, to, asked, places, (option,))
            ]
            yield ToldChoice(number, len(choice), owner, rows)


Leads = Iterator[tuple[Relation, str, Asked, Intervals]]


def _event_leads(reacher: Reacher, event: Event) -> Leads:
    """Where a kept event leads to."""
    asked = PASS if event.stream is not None and event.stream.copies else None
    why, enough = (
        _joined(
            reacher.reach(term, fields, support=support)
            for term, fields in reacher.below_event(event, asked, support)
        )
        for support in (False, True)
    )
    return _leads(why, enough)


def _term_leads(reacher: Reacher, term: Term) -> Leads:
    """Where an option of a choice leads to, whatever fields are asked of it."""
    why, enough = (
        _joined([reacher.reach(term, PASS, support=support)]) for support in (False, True)
    )
    return _leads(why, enough)


def _joined(found: Iterable[Reach]) -> Reach:
    together: Reach = {}
    for reach in found:
        for key, places in reach.items():
            together[key] = union(together[key], places) if key in together else places
    return _without_mere_presence(together)


def _leads(why: Reach, enough: Reach) -> Leads:
    """What explains and what supports, taken together, by relation."""
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


def _kept(interpreter: Interpreter, detail: Detail) -> Iterator[KeptStream]:
    # An output has the name that the chain gives it, also where a Group's inside says it.
    exits = dict(zip(interpreter.plan.exits, interpreter.chain.outputs, strict=True))
    for number, step in enumerate(interpreter.steps):
        for pipe, shelf in enumerate(step.shelves):
            several = len(step.shelves) > 1
            name = f"{step.name}.{pipe}" if several else step.name
            if (number, pipe) in exits:
                yield KeptStream(exits[number, pipe], step.name, pipe, StreamRole.OUTPUT, 1, shelf)
            elif detail == "steps":
                yield KeptStream(name, step.name, pipe, StreamRole.STEP, 1, shelf)
    for step, machine in zip(interpreter.steps, interpreter.machines, strict=True):
        inner = machine.inner if isinstance(machine, SliceMachine) else None
        if not isinstance(inner, Plan):
            continue
        for number, inside in enumerate(inner.steps):
            for pipe, shelf in enumerate(inside.shelves):
                if detail == "steps" or (number, pipe) in inner.exits:
                    several = len(inside.shelves) > 1
                    name = f"{inside.name}.{pipe}" if several else inside.name
                    yield KeptStream(name, inside.name, pipe, StreamRole.INNER, INNER_WIDTH, shelf)
        yield KeptStream(f"{step.name}/heads", step.name, 0, StreamRole.HEADS, 1, None)
    for name in interpreter.chain.outputs:
        yield KeptStream(f"{name}/end", name, 0, StreamRole.END, 1, None)


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
    stream: str,
    relation: Relation,
    at: int,
    to: str,
    asked: Asked,
    places: Intervals,
    witness: tuple[int, ...] | None = None,
) -> Iterator[Association]:
    """One row that lists the positions; long stretches among them are bands of their own.

    Heads are no events that could be listed: what leads there is always a band.
    """
    longest = 0 if to.endswith("/heads") else LITERAL
    short = tuple(p for lo, hi in places if hi - lo < longest for p in range(lo, hi + 1))
    if short:
        yield Association(
            *(stream, relation, "list", at, at, to, short),
            fields=_fields(asked),
            copy=asked is PASS,
            witness=witness,
        )
    for place in places:
        if place[1] - place[0] >= longest:
            yield replace(_Run(at, place).row(stream, relation, to, asked), witness=witness)


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
