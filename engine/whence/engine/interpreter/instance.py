"""A chain at work: machines, and the events on their way between them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from whence.engine.errors import EventError
from whence.engine.language.events import Either, Event, Term, position_text
from whence.engine.language.processor import Machine
from whence.engine.values import ValueFault

if TYPE_CHECKING:
    from whence.engine.interpreter.plan import Pipe, Step

__all__ = ["GraphInstance", "LineInstance"]


def _locate(machine: Machine, fault: ValueFault) -> EventError:
    """Say where a value did not fit: the processor and the position it was reading."""
    scope = machine.scope
    position = machine.fed - 1 if scope is None else scope.at
    where = f"position {position_text(position)}"
    if scope is not None and scope.window:
        where = f"event {machine.fed - 1} of the window at {where}"
    return EventError(f"{machine.site.name}, {where}: {fault}")


class LineInstance:
    """Processors one after the other."""

    __slots__ = ("arrived", "machines")

    def __init__(self, machines: list[Machine]) -> None:
        """Take fresh machines."""
        self.machines = machines
        self.arrived: list[Event] = []

    def push(self, pipe: int, event: Event) -> None:
        """Let an event arrive; `drain` carries it on."""
        self.arrived.append(event)

    def drain(self) -> list[list[Event]]:
        """Carry what arrived through the line; return the outputs of the only exit."""
        outputs: list[Event] = []
        for event in self.arrived:
            outputs += self.feed((event,))
        self.arrived.clear()
        return [outputs]

    def begin_all(self) -> list[list[Event]]:
        """The outputs of the only exit."""
        return [self.begin()]

    def close_all(self) -> list[list[Event]]:
        """The outputs of the only exit."""
        return [self.close()]

    def begin(self) -> list[Event]:
        """Each machine's own beginning comes before what the machine above began with."""
        events: list[Event] = []
        for machine in self.machines:
            events = machine.begin() + self._through(machine, events)
        return events

    def feed(self, front: tuple[Event, ...]) -> list[Event]:
        """Carry one event through the line."""
        events: Sequence[Event] = front
        machine = self.machines[0]
        try:
            for machine in self.machines:
                if len(events) == 1:
                    machine.fed += 1
                    events = machine.feed(events[0])
                elif events:
                    outputs: list[Event] = []
                    for event in events:
                        machine.fed += 1
                        outputs += machine.feed(event)
                    events = outputs
                else:
                    return []
        except ValueFault as fault:
            raise _locate(machine, fault) from fault
        return list(events)

    def last_of(self, fronts: Iterable[tuple[Event, ...]]) -> Event | None:
        """One machine alone may know a shorter way: this is what most windows do."""
        outputs = self.begin()
        last = outputs[-1] if outputs else None
        if len(self.machines) > 1:
            for front in fronts:
                outputs = self.feed(front)
                if outputs:
                    last = outputs[-1]
            return last
        (machine,) = self.machines
        try:
            return machine.feed_last([front[0] for front in fronts]) or last
        except ValueFault as fault:
            raise _locate(machine, fault) from fault

    def close(self) -> list[Event]:
        """Empty each machine before the next."""
        events: list[Event] = []
        for machine in self.machines:
            events = self._through(machine, events) + machine.close()
        return events

    def _through(self, machine: Machine, events: list[Event]) -> list[Event]:
        outputs: list[Event] = []
        try:
            for event in events:
                machine.fed += 1
                outputs += machine.feed(event)
        except ValueFault as fault:
            raise _locate(machine, fault) from fault
        return outputs

    def end(self, output: int = 0) -> Term:
        """What the end of the output leans on."""
        return tuple([machine.open() for machine in self.machines])


class GraphInstance:
    """Processors in any acyclic order, each with a queue per input pipe."""

    __slots__ = ("exits", "machines", "outs", "queues", "readers", "steps", "watchers")

    def __init__(self, steps: Sequence[Step], inputs: int, exits: Sequence[Pipe]) -> None:
        """Start fresh machines and connect them."""
        self.steps = steps
        self.exits = exits
        self.machines = [step.factory() for step in steps]
        self.queues: list[list[deque[Event]]] = [[deque() for _ in s.sources] for s in steps]
        self.readers: dict[Pipe, list[deque[Event]]] = {}
        for step, queues in zip(steps, self.queues, strict=True):
            for source, queue in zip(step.sources, queues, strict=True):
                self.readers.setdefault(source, []).append(queue)
        self.outs: list[list[Event]] = [[] for _ in exits]
        self.watchers: dict[Pipe, list[list[Event]]] = {}
        for pipe, out in zip(exits, self.outs, strict=True):
            self.watchers.setdefault(pipe, []).append(out)

    def _send(self, number: int, events: list[Event]) -> None:
        several = len(self.steps[number].streams) > 1
        for event in events:
            pipe = (number, event.stream.pipe if several and event.stream else 0)
            for queue in self.readers.get(pipe, ()):
                queue.append(event)
            for out in self.watchers.get(pipe, ()):
                out.append(event)

    def push(self, pipe: int, event: Event) -> None:
        """Let an event arrive on an input; `drain` carries it on."""
        source = (-1 - pipe, 0)
        for queue in self.readers.get(source, ()):
            queue.append(event)
        for out in self.watchers.get(source, ()):
            out.append(event)

    def drain(self) -> list[list[Event]]:
        """Run every processor on the fronts that are complete; return the outputs by exit."""
        for number in range(len(self.machines)):
            self._work(number)
        taken = [list(out) for out in self.outs]
        for out in self.outs:
            out.clear()
        return taken

    def _work(self, number: int) -> None:
        queues = self.queues[number]
        machine = self.machines[number]
        try:
            if len(queues) == 1:
                (queue,) = queues
                while queue:
                    machine.fed += 1
                    self._send(number, machine.feed(queue.popleft()))
            else:
                while all(queues):
                    machine.fed += 1
                    self._send(number, machine.feed(*[queue.popleft() for queue in queues]))
        except ValueFault as fault:
            raise _locate(machine, fault) from fault

    def begin_all(self) -> list[list[Event]]:
        """Let every machine begin, in order; return the outputs by exit."""
        for number, machine in enumerate(self.machines):
            self._send(number, machine.begin())
            self._work(number)
        return self.drain()

    def close_all(self) -> list[list[Event]]:
        """Close in order, each processor emptied before the next; return the outputs by exit."""
        for number, machine in enumerate(self.machines):
            self._work(number)
            self._send(number, machine.close())
        return self.drain()

    def begin(self) -> list[Event]:
        """As an `Instance` with one output."""
        return self.begin_all()[0]

    def feed(self, front: tuple[Event, ...]) -> list[Event]:
        """As an `Instance` with one output."""
        for pipe, event in enumerate(front):
            self.push(pipe, event)
        return self.drain()[0]

    def last_of(self, fronts: Iterable[tuple[Event, ...]]) -> Event | None:
        """As an `Instance` with one output."""
        outputs = self.begin()
        for front in fronts:
            outputs = self.feed(front) or outputs
        return outputs[-1] if outputs else None

    def close(self) -> list[Event]:
        """As an `Instance` with one output."""
        return self.close_all()[0]

    def end(self, output: int = 0) -> Term:
        """What the end of an output pipe leans on: of several inputs, one that ran out."""
        ends: dict[int, Term] = {}
        for number, (machine, step) in enumerate(zip(self.machines, self.steps, strict=True)):
            ran_out = [
                None if source[0] < 0 else ends[source[0]]
                for source, queue in zip(step.sources, self.queues[number], strict=True)
                if not queue
            ]
            own = machine.open()
            # An end that leans on nothing is the best to lean on.
            below = next((e for e in ran_out if not _leans(e)), ran_out[0] if ran_out else None)
            ends[number] = (own, below) if own is not None and below is not None else own or below
        return ends[self.exits[output][0]] if self.exits[output][0] >= 0 else None


def _leans(term: Term) -> bool:
    """Whether a term names any event at all."""
    stack: list[Term] = [term]
    while stack:
        item = stack.pop()
        if isinstance(item, tuple):
            stack.extend(item[:1] if isinstance(item, Either) else item)
        elif item is not None:
            return True
    return False
