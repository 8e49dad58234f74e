"""MooreMachine on batches: a step in a table per event; the loop-free way as linked elements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from whence.engine.kernels.batch import Batch, Front
from whence.engine.kernels.columns.column import Bools, Column, Ints, guessed
from whence.engine.kernels.columns.lazy_ints import rows_from
from whence.engine.kernels.columns.slot_table import SlotTable
from whence.engine.kernels.expressions.conditions import as_conditions
from whence.engine.kernels.expressions.expression import RowFault, compile_columns
from whence.engine.kernels.kernel import Born, Kernel, Place, State
from whence.engine.kernels.moore_steps import step
from whence.engine.kernels.trails.composing import Chosen, linked, union
from whence.engine.kernels.trails.entries import NONE, PRESENCE, WHOLE, Entries
from whence.engine.kernels.trails.linked_stream import LinkedStream
from whence.engine.kernels.trails.reasons import Reasons, all_of, together
from whence.engine.language.compiled import compile_expression
from whence.engine.language.events import Event
from whence.engine.language.expression import Call, Expression, Field, Input
from whence.engine.palettes.fsm import MooreMachine
from whence.engine.values import ValueFault, as_condition, describe

__all__ = ["kernel"]

Bytes = npt.NDArray[np.int32]


def kernel(place: Place) -> Kernel | None:
    """The kernel of a MooreMachine."""
    return MooreKernel(place)


class _Ways(SlotTable):
    """The state of every slot and the loop-free way to it, as `step_by_step` has them."""

    state: Bytes
    came: npt.NDArray[Any]
    element: Ints


class MooreKernel(Kernel):
    """The machines of all slots.

    Every input is an element: it leads to the input itself, to the element that it builds on
    (explains) and to the element before it (supports). Where every state has a symbol the elements
    are the outputs.
    """

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        declared = self.declared = cast(MooreMachine, place.processor)
        self.names = declared.all_states()
        number = {name: n for n, name in enumerate(self.names)}
        guards = list(dict.fromkeys(guard for _, guard, _ in declared.transitions))
        self.guards = guards
        self.compiled = [compile_columns(guard, place.inputs, place.run) for guard in guards]
        self.reads = [plain_reads(guard) for guard in guards]
        self.tries = [
            [(guards.index(g), number[to]) for start, g, to in declared.transitions if start == s]
            for s in self.names
        ]
        most = max((len(tries) for tries in self.tries), default=0)
        self.guard_of: Bytes = np.full((len(self.names), most + 1), -1, np.int32)
        self.target_of: Bytes = np.full((len(self.names), most + 1), -1, np.int32)
        for state, tries in enumerate(self.tries):
            for place_, (guard, to) in enumerate(tries):
                self.guard_of[state, place_], self.target_of[state, place_] = guard, to
            other = declared.otherwise.get(self.names[state])
            self.target_of[state, len(tries)] = -1 if other is None else number[other]
        self.trap: Bools = np.array([name in declared.traps() for name in self.names])
        self.silent: Bools = np.array([name not in declared.states for name in self.names])
        self.symbols = guessed([declared.states.get(name) for name in self.names], self.run.texts)
        self.regular = not declared.is_silent()
        self.elements: LinkedStream | None = None
        self.helper = False
        if self.tracked and not place.window:
            own = place.own[0] if place.own else None
            self.helper = own is None or not self.regular
            self.elements = LinkedStream(place, "steps", None if self.helper else own)
            self.elements.begun()
        # Of a machine that begins all numbers are 0.
        states = len(self.names)
        way = np.zeros(states if self.tracked else 0, np.int64)
        self.ways = _Ways(0, state=np.int32(0), came=way.astype(_smallest(states)), element=way)

    def reset(self) -> None:
        super().reset()
        self.ways.forget()

    def feed(self, front: Front, born: Born) -> list[Batch]:
        """Take a step for every event; say the symbol of the state reached."""
        self.ways.grow(born.count)
        count = len(front)
        if not count:
            return [self.run.empty(slotted=self.place.slotted)]
        slot = np.zeros(count, np.int64) if front.slot is None else front.slot
        holds = self._guards(front, slot)
        reached = np.empty(count, np.int32)
        tracked = count if self.tracked else 0
        elements = rows_from(0, tracked)
        if self.elements is not None:
            elements = self.elements.positions(front.moments())
        tried = np.empty(tracked, np.int32)
        parent, prior = np.empty((2, tracked), np.int64)
        met = np.zeros(self.guard_of.size, np.bool_)
        failed, differ = step(
            slot,
            holds,
            elements,
            self.guard_of,
            self.target_of,
            self.trap,
            self.ways.state,
            self.ways.came,
            self.ways.element,
            reached,
            tried,
            parent,
            prior,
            met,
        )
        if failed >= 0:
            self._fail(front, int(failed), int(reached[failed]))
        values = self.symbols.take(cast(Ints, reached))
        if not self.tracked:
            batch = Batch(values, front.moment, front.slot, *Reasons.nothing(count))
        else:
            taken = _Taken(tried, met, parent, prior if differ else parent)
            batch = self._explained(front, taken, values)
        if self.regular:
            return [batch]
        said = ~self.silent[reached]
        return [batch if said.all() else batch.take(np.flatnonzero(said))]

    def _guards(self, front: Front, slot: Ints) -> Bools:
        """Which guard holds for which event; a guard is only tried where the machine comes to."""
        holds = np.zeros((max(len(self.compiled), 1), len(front)), np.bool_)
        try:
            for number, guard in enumerate(self.compiled):
                holds[number] = as_conditions(guard.evaluate(front))
        except RowFault:
            self._one_by_one(front, slot, holds)
        return holds

    def _one_by_one(self, front: Front, slot: Ints, holds: Bools) -> None:
        """Some guard fails somewhere: try only those that the machine itself tries, in order."""
        guards = [compile_expression(guard, self.place.inputs) for guard in self.guards]
        states = {int(s): int(self.ways.state[s]) for s in np.unique(slot)}
        events = [Event(value) for value in front.pipes[0].values.to_list()]
        for row, (at, event) in enumerate(zip(slot.tolist(), events, strict=True)):
            state = states[at]
            target = int(self.target_of[state, len(self.tries[state])])
            for guard, to in self.tries[state]:
                try:
                    holds[guard, row] = as_condition(guards[guard].value((event,)))
                except ValueFault as fault:
                    self.fail(front, row, fault)
                if holds[guard, row]:
                    target = to
                    break
            if target < 0:
                return  # the table says the same when it comes to it
            states[at] = target

    def _fail(self, front: Front, row: int, state: int) -> None:
        wanted = f"a transition from state {self.names[state]!r}"
        got = describe(front.pipes[0].values.item(row))
        self.fail(front, row, ValueFault(wanted, got, "an 'otherwise' for that state"))

    def _explained(self, front: Front, taken: _Taken, values: Column) -> Batch:
        count = len(front)
        own = self._own(front, taken)
        leans: Bools | None = None
        trapped = np.repeat(self.trap, self.guard_of.shape[1])
        if bool((trapped & taken.met).any()):
            leans = ~trapped[taken.tried]
        event = front.pipes[0]
        exists = event.exists
        if leans is not None:
            own = own._replace(sup=Chosen(count, [(leans, own.sup)]))
        if self.elements is None:
            found = Reasons(linked(own.why, taken.parent), linked(own.sup, taken.prior))
        else:
            up = Reasons.of(self.elements.link(taken.parent))
            if not own.agree or taken.prior is not taken.parent:
                up = up._replace(sup=self.elements.link(taken.prior))
            found = all_of(own, up)
            if self.helper:
                found = Reasons.of(self.elements.add(front.moments(), found).ask(WHOLE))
        if not self.regular:
            # That an output is there rests on all that led to it.
            exists = union(found.sup, exists)
        found = found.existing(exists)
        return Batch(values, front.moment, front.slot, *found)

    def _own(self, front: Front, taken: _Taken) -> Reasons:
        """What each event itself adds: that it came, and what the guards that were tried read."""
        event = front.pipes[0]
        count = len(front)
        plain: dict[int, list[int]] = {}
        dynamic: dict[int, list[int]] = {}
        for pair in np.flatnonzero(taken.met).tolist():
            state, tries = divmod(pair, self.guard_of.shape[1])
            reads: frozenset[str] | None = frozenset()
            for guard, _ in self.tries[state][:tries]:
                read = self.reads[guard]
                if read == "dynamic":
                    dynamic.setdefault(guard, []).append(pair)
                elif read is None or reads is None:
                    reads = None
                else:
                    reads = reads | cast(frozenset[str], read)
            code = PRESENCE if reads == frozenset() else self.run.names.field_set(reads)
            plain.setdefault(code, []).append(pair)
        masks: list[Bools | None] = []
        parts: list[Reasons] = []
        for code, pairs in plain.items():
            masks.append(None if len(plain) == 1 else taken.rows(pairs))
            parts.append(event.reasons.ask(code))
        for guard, pairs in dynamic.items():
            tried = taken.rows(pairs)
            masks.append(tried)
            parts.append(self._read_by(guard, front, tried))
        if len(parts) == 1 and masks[0] is None:
            return parts[0]
        return together(lambda *own: Chosen(count, list(zip(masks, own, strict=True))), *parts)

    def _read_by(self, guard: int, front: Front, tried: Bools) -> Reasons:
        """What a guard read of each event; where it was not tried it may well fail."""
        compiled = self.compiled[guard]
        try:
            return compiled.trace(front).reasons
        except RowFault:
            some = compiled.trace(front.take(np.flatnonzero(tried)))
            return some.reasons.take(np.where(tried, np.cumsum(tried) - 1, -1))

    def open(self) -> Entries:
        """Where states are silent, every input so far could have made it say more."""
        if self.regular or self.elements is None:
            return NONE
        last = self.ways.element[:, 0]
        last = last[last > 0] - 1
        return self.elements.link(last).entries(np.arange(len(last)))

    def save(self) -> State:
        """The states of all slots and, tracked, the ways to them."""
        return self.ways.save()

    def load(self, state: Mapping[str, Any]) -> None:
        self.ways.load(state)


class _Taken(NamedTuple):
    """How some events were taken.

    Attributes:
        tried: the state that each found and how many guards it tried there, as one number.
        met: which of these numbers there are.
        parent: the element that each builds on; below 0 none.
        prior: the element before it in its slot; the very same array where all are the same.
    """

    tried: Bytes
    met: Bools
    parent: Ints
    prior: Ints

    def rows(self, numbers: list[int]) -> Bools:
        """The rows that were taken in one of these ways."""
        wanted = np.zeros_like(self.met)
        wanted[numbers] = True
        found: Bools = wanted[self.tried]
        return found


def _smallest(states: int) -> npt.DTypeLike:
    """The kind of number that every state fits in, counted from 1."""
    return np.int16 if states < 2**15 else np.int32


def plain_reads(guard: Expression) -> frozenset[str] | str | None:
    """The fields that a guard reads, ``None`` for the whole event; ``dynamic`` if values decide."""
    reads: set[str] = set()
    whole = False
    stack = [guard]
    while stack:
        item = stack.pop()
        if isinstance(item, Call):
            if not item.function.explains_all:
                return "dynamic"
            stack.extend(item.arguments)
        elif isinstance(item, Field):
            reads.add(item.name)
        elif isinstance(item, Input):
            whole = True
    return None if whole else frozenset(reads)
