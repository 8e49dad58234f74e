"""Run a processor as the interpreter does, one event after the other, inside a chain of kernels.

This is how users' own processors and functions run, and whatever has no kernel. Every row becomes
an event whose explanation ends at the row's own trail.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whence.engine.errors import EventError
from whence.engine.interpreter.reach import PASS, Asked, Reach, Reacher
from whence.engine.kernels.batch import Batch, Front
from whence.engine.kernels.columns.column import Ints, guessed
from whence.engine.kernels.kernel import Born, Kernel, Place, Run, State
from whence.engine.kernels.state import UnsavedError
from whence.engine.kernels.trails.entries import ASKED, NONE, Entries, Names
from whence.engine.kernels.trails.trail import Nothing, Sets, Trail
from whence.engine.language.events import Event, Part, Position, Stream, Term, position_text
from whence.engine.language.processor import Machine
from whence.engine.lineage.positions import Intervals, union
from whence.engine.values import ValueFault

__all__ = ["Interpreted", "everything_so_far"]

_Found = dict[tuple[int, int], Intervals]
"""Positions by target and field set, both by number."""


class _Leaf(Event):
    """A row of the batch; what it leads to is known already.

    Attributes:
        leads: where it leads, first as explanation, then as support.
    """

    __slots__ = ("leads",)

    def __init__(self, value: object, leads: tuple[_Found, _Found], stream: Stream) -> None:
        super().__init__(value, None, None, None, stream)
        self.leads = leads


class _LeafReacher(Reacher):
    """Follows terms up to the rows they came from."""

    def __init__(self, names: Names) -> None:
        super().__init__(lambda event: None)
        self.names = names

    def direct(self, item: Term, asked: Asked, support: bool) -> Reach | None:
        """A row reaches what it leads to, with the fields that are asked for."""
        event, fields = (item.event, item.fields) if isinstance(item, Part) else (item, asked)
        if not isinstance(event, _Leaf):
            return None
        found: Reach = {}
        for (target, code), places in event.leads[support].items():
            known = fields if code == ASKED else self.names.fields[code]
            key = (str(target), known)
            found[key] = union(found[key], places) if key in found else places
        return found


class Interpreted(Kernel):
    """A processor's own machine, one for each instance."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.machines: dict[int, Machine] = {}
        self.streams = [Stream(f"{place.name} input {n}") for n in range(len(place.inputs))]
        self.reacher = _LeafReacher(self.run.names)

    def feed(self, front: Front, born: Born) -> list[Batch]:
        """Feed every front to the machine of its instance, in order."""
        out = _Outputs(self)
        fresh = dict(zip(born.slots.tolist(), born.moments.tolist(), strict=True))
        slots = [0] * len(front) if front.slot is None else front.slot.tolist()
        moments = front.moments().tolist()
        events = [self._events(number, batch) for number, batch in enumerate(front.pipes)]
        waiting = iter(fresh.items())
        begins = next(waiting, None)
        for row, (slot, moment) in enumerate(zip(slots, moments, strict=True)):
            while begins is not None and begins[1] <= moment:
                self._begin(begins[0], begins[1], out)
                begins = next(waiting, None)
            machine = self.machines[slot]
            machine.fed += 1
            self._move(machine, moment)
            try:
                given = machine.feed(*[pipe[row] for pipe in events])
            except ValueFault as fault:
                raise self._located(machine, fault) from fault
            out.add(given, slot, moment)
        while begins is not None:
            self._begin(begins[0], begins[1], out)
            begins = next(waiting, None)
        return out.batches()

    def reset(self) -> None:
        super().reset()
        self.machines = {}

    def save(self) -> State:
        """Refuse: a machine may hold anything."""
        processor = f"{type(self.place.processor).__name__} {self.place.name!r}"
        msg = (
            "a chain: expected processors whose state can be stored; "
            f"got {processor}, which runs event by event; try starting again"
        )
        raise UnsavedError(msg, processor)

    def _begin(self, slot: int, moment: int, out: _Outputs) -> None:
        machine = self.machines[slot] = self.place.factory()
        self._move(machine, moment)
        out.add(machine.begin(), slot, moment)

    def _move(self, machine: Machine, moment: int) -> None:
        if machine.scope is not None:
            machine.scope.at = self.place.outer(moment)

    def _located(self, machine: Machine, fault: ValueFault) -> EventError:
        scope = machine.scope
        position: Position = machine.fed - 1 if scope is None else scope.at
        where = f"position {position_text(position)}"
        if scope is not None and scope.window:
            where = f"event {machine.fed - 1} of the window at {where}"
        return EventError(f"{machine.site.name}, {where}: {fault}")

    def _events(self, number: int, batch: Batch) -> Sequence[Event]:
        values = batch.values.to_list()
        if not self.tracked:
            return [Event(value) for value in values]
        stream = self.streams[number]
        whys = _per_row(batch.why)
        sups = whys if batch.sup is batch.why else _per_row(batch.sup)
        events: list[Event] = [
            _Leaf(value, (why, sup), stream)
            for value, why, sup in zip(values, whys, sups, strict=True)
        ]
        if batch.exists is not None:
            for event, found in zip(events, _per_row(batch.exists), strict=True):
                event.exists = _Leaf(None, (found, found), stream)
        return events

    def close(self, slots: Ints, moments: Ints) -> list[Batch] | None:
        """Close every machine."""
        out = _Outputs(self)
        for slot, moment in zip(slots.tolist(), moments.tolist(), strict=True):
            machine = self.machines[slot]
            self._move(machine, moment)
            out.add(machine.close(), slot, moment)
        return out.batches()

    def open(self) -> Entries:
        """What the ends of all machines lean on."""
        found = [
            self.reacher.reach(machine.open(), None, support=True)
            for machine in self.machines.values()
        ]
        return _entries(found, self.run.names) if found else NONE

    def pending(self) -> int:
        """Those of all machines."""
        return sum(machine.waits() for machine in self.machines.values())

    def waiting_in(self, count: int) -> Ints:
        """Those of the machine of each slot."""
        found = np.zeros(count, np.int64)
        for slot, machine in self.machines.items():
            found[slot] = machine.waits()
        return found

    def lead(self, event: Event, *, support: bool) -> Reach:
        """Where an event that the machine gave leads."""
        copies = event.stream is not None and event.stream.copies
        asked: Asked = PASS if copies else None
        found: Reach = {}
        for term, fields in self.reacher.below_event(event, asked, support):
            for key, places in self.reacher.reach(term, fields, support=support).items():
                found[key] = union(found[key], places) if key in found else places
        return found

    def existence(self, event: Event) -> Reach:
        """What the existence of an event rests on."""
        return self.reacher.reach(event.exists, None, support=True)


class _Outputs:
    """What the machines gave, pipe by pipe."""

    def __init__(self, kernel: Interpreted) -> None:
        self.kernel = kernel
        count = len(kernel.place.outputs)
        self.events: list[list[Event]] = [[] for _ in range(count)]
        self.slots: list[list[int]] = [[] for _ in range(count)]
        self.moments: list[list[int]] = [[] for _ in range(count)]

    def add(self, events: list[Event], slot: int, moment: int) -> None:
        several = len(self.events) > 1
        for event in events:
            pipe = event.stream.pipe if several and event.stream is not None else 0
            self.events[pipe].append(event)
            self.slots[pipe].append(slot)
            self.moments[pipe].append(moment)

    def batches(self) -> list[Batch]:
        return [self._batch(pipe) for pipe in range(len(self.events))]

    def _batch(self, pipe: int) -> Batch:
        kernel, events = self.kernel, self.events[pipe]
        why: Trail = Nothing(len(events))
        sup = why
        exists: Trail | None = None
        if kernel.tracked and events:
            names = kernel.run.names
            why = _sets([kernel.lead(event, support=False) for event in events], names)
            sup = _sets([kernel.lead(event, support=True) for event in events], names)
            if any(event.exists is not None for event in events):
                exists = _sets([kernel.existence(event) for event in events], names)
        return Batch(
            guessed([event.value for event in events], kernel.run.texts),
            np.array(self.moments[pipe], np.int64),
            np.array(self.slots[pipe], np.int64) if kernel.place.slotted else None,
            why,
            sup,
            exists,
        )


def _per_row(trail: Trail) -> list[_Found]:
    """What each row leads to."""
    settled = trail.settle()
    rows: list[_Found] = [{} for _ in range(len(settled))]
    for row, target, fields, lo, hi in zip(*(a.tolist() for a in settled.held), strict=True):
        found = rows[row]
        key = (target, fields)
        found[key] = union(found.get(key, ()), ((lo, hi),))
    return rows


def _entries(reached: Sequence[Reach], names: Names) -> Entries:
    rows = [
        (row, int(target), ASKED if fields is PASS else names.field_set(fields), lo, hi)
        for row, found in enumerate(reached)
        for (target, fields), places in found.items()
        for lo, hi in places
    ]
    if not rows:
        return NONE
    return Entries(*np.array(rows, np.int64).T.copy())


def _sets(reached: Sequence[Reach], names: Names) -> Sets:
    entries = _entries(reached, names).sorted()
    return Sets(np.searchsorted(entries.row, np.arange(len(reached) + 1)), entries)


def everything_so_far(run: Run) -> Term:
    """All inputs of the run so far, as a term for the machines."""
    found = _per_row(run.everything())[0]
    return _Leaf(None, (found, found), Stream("everything"))
