"""MooreMachine on batches: a step in a table per event; the loop-free way as linked elements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from whence.engine.events import Event
from whence.engine.expression import Call, Expression, Field, Input, compile_expression
from whence.engine.kernels.batch import Batch, Front
from whence.engine.kernels.columns import Bools, Column, Ints, guessed
from whence.engine.kernels.composing import Chosen, Linked, union
from whence.engine.kernels.conditions import as_conditions
from whence.engine.kernels.entries import NONE, PRESENCE, WHOLE, Entries
from whence.engine.kernels.expressions import RowFault, compile_columns
from whence.engine.kernels.jit import jit
from whence.engine.kernels.kernel import Born, Kept, Kernel, Place, State
from whence.engine.kernels.trails import Nothing, Spans, Trail
from whence.engine.palettes.fsm import MooreMachine
from whence.engine.values import ValueFault, as_condition, describe

__all__ = ["kernel"]

Bytes = npt.NDArray[np.int32]


def kernel(place: Place) -> Kernel | None:
    """The kernel of a MooreMachine."""
    return MooreKernel(place)


class MooreKernel(Kernel):
    """The machines of all slots.

    Every input is an element: it leads to the input itself, to the element that it builds on
    (explains) and to the element before it (supports). Where every state has a symbol the elements
    are the outputs.
    """

    def __init__(self, place: Place) -> None:
        """Number the states and compile the guards."""
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
        self.elements: Kept | None = None
        self.helper = False
        if self.tracked and not place.window:
            own = place.own[0] if place.own else None
            self.helper = own is None or not self.regular
            self.elements = place.chain("steps") if self.helper else own
        self.reset()

    def reset(self) -> None:
        """Forget all instances."""
        super().reset()
        states = len(self.names)
        self.state: Bytes = np.zeros(0, np.int32)
        self.height: Bytes = np.ones(0, np.int32)
        self.stack_state: Bytes = np.zeros((0, states + 1), np.int32)
        self.stack_element: Ints = np.full((0, states + 1), -1)
        self.depth: Bytes = np.full((0, states), -1, np.int32)
        self.last: Ints = np.full(0, -1)

    def _grow(self, count: int) -> None:
        have = len(self.state)
        if count <= have:
            return
        more = max(count, 2 * have, 64) - have
        states = len(self.names)
        self.state = np.concatenate([self.state, np.zeros(more, np.int32)])
        self.height = np.concatenate([self.height, np.ones(more, np.int32)])
        self.stack_state = np.concatenate(
            [self.stack_state, np.zeros((more, states + 1), np.int32)]
        )
        self.stack_element = np.concatenate([self.stack_element, np.full((more, states + 1), -1)])
        depth = np.full((more, states), -1, np.int32)
        depth[:, 0] = 0
        self.depth = np.concatenate([self.depth, depth])
        self.last = np.concatenate([self.last, np.full(more, -1)])

    def feed(self, front: Front, born: Born) -> list[Batch]:
        """Take a step for every event; say the symbol of the state reached."""
        self._grow(born.count)
        count = len(front)
        if not count:
            return [self.run.empty(slotted=self.place.slotted)]
        slot = np.zeros(count, np.int64) if front.slot is None else front.slot
        elements = np.arange(count)
        if self.elements is not None:
            elements = self.elements.positions(self.place.top(front.moment))
        holds = self._guards(front, slot)
        reached = np.empty(count, np.int32)
        before = np.empty(count, np.int32)
        tried = np.empty(count, np.int32)
        parent = np.empty(count, np.int64)
        prior = np.empty(count, np.int64)
        failed = _step(
            slot,
            holds,
            elements,
            self.guard_of,
            self.target_of,
            self.state,
            self.height,
            self.stack_state,
            self.stack_element,
            self.depth,
            self.trap,
            self.last,
            reached,
            before,
            tried,
            parent,
            prior,
            self.tracked,
        )
        if failed >= 0:
            self._fail(front, int(failed), int(before[failed]))
        values = self.symbols.take(reached.astype(np.int64))
        said = ~self.silent[reached]
        if not self.tracked:
            nothing = Nothing(count)
            batch = Batch(values, front.moment, front.slot, nothing, nothing, None)
        else:
            batch = self._explained(front, before, tried, parent, prior, values)
        return [batch if said.all() else batch.take(np.flatnonzero(said))]

    def _guards(self, front: Front, slot: Ints) -> Bools:
        """Which guard holds for which event; a guard is only tried where the machine comes to."""
        holds = np.zeros((len(front), max(len(self.compiled), 1)), np.bool_)
        try:
            for number, guard in enumerate(self.compiled):
                holds[:, number] = as_conditions(guard.evaluate(front))
        except RowFault:
            self._one_by_one(front, slot, holds)
        return holds

    def _one_by_one(self, front: Front, slot: Ints, holds: Bools) -> None:
        """Some guard fails somewhere: try only those that the machine itself tries, in order."""
        guards = [compile_expression(guard, self.place.inputs) for guard in self.guards]
        states = {int(s): int(self.state[s]) for s in np.unique(slot)}
        events = [Event(value) for value in front.pipes[0].values.to_list()]
        for row, (at, event) in enumerate(zip(slot.tolist(), events, strict=True)):
            state = states[at]
            target = int(self.target_of[state, len(self.tries[state])])
            for guard, to in self.tries[state]:
                try:
                    holds[row, guard] = as_condition(guards[guard].value((event,)))
                except ValueFault as fault:
                    self.fail(front, row, fault)
                if holds[row, guard]:
                    target = to
                    break
            if target < 0:
                return  # the table says the same when it comes to it
            states[at] = target

    def _fail(self, front: Front, row: int, state: int) -> None:
        wanted = f"a transition from state {self.names[state]!r}"
        got = describe(front.pipes[0].values.item(row))
        self.fail(front, row, ValueFault(wanted, got, "an 'otherwise' for that state"))

    def _explained(
        self,
        front: Front,
        before: Bytes,
        tried: Bytes,
        parent: Ints,
        prior: Ints,
        values: Column,
    ) -> Batch:
        count = len(front)
        own_why, own_sup = self._own(front, before, tried)
        leans = ~self.trap[before]
        event = front.pipes[0]
        exists = event.exists
        if self.elements is None:
            why: Trail = Linked(own_why, parent)
            sup: Trail = Linked(Chosen(count, [(leans, own_sup)]), prior)
            trail = None
        else:
            target = self.elements.target
            up = Spans.points(target, WHOLE, parent)
            why = union(own_why, up) or own_why
            same = own_sup is own_why and bool(leans.all()) and bool((parent == prior).all())
            sup = why
            if not same:
                link = Spans.points(target, WHOLE, prior)
                kept = own_sup if leans.all() else Chosen(count, [(leans, own_sup)])
                sup = union(kept, link) or kept
            trail = None
            if self.helper:
                top = self.place.top(front.moment)
                trail = self.elements.add(top, None, why, sup).ask(WHOLE)
        if not self.regular:
            # That an output is there rests on all that led to it.
            exists = union(trail or sup, exists)
        whole = union(trail or sup, exists)
        assert whole is not None
        if trail is None and exists is None and sup is why:
            whole = why
        return Batch(values, front.moment, front.slot, trail or why, whole, exists)

    def _own(self, front: Front, before: Bytes, tried: Bytes) -> tuple[Trail, Trail]:
        """What each event itself adds: that it came, and what the guards that were tried read."""
        event = front.pipes[0]
        names = self.run.names
        count = len(front)
        masks: dict[int, Bools] = {}
        dynamic: dict[int, Bools] = {}
        width = self.guard_of.shape[1] + 1
        pairs = before.astype(np.int64) * width + tried
        found = np.flatnonzero(np.bincount(pairs, minlength=1))
        for pair in found.tolist():
            state, tries = divmod(pair, width)
            rows = pairs == pair
            reads: frozenset[str] | None = frozenset()
            for guard, _ in self.tries[state][:tries]:
                plain = self.reads[guard]
                if plain == "dynamic":
                    dynamic[guard] = dynamic.get(guard, np.zeros(count, np.bool_)) | rows
                elif plain is None or reads is None:
                    reads = None
                else:
                    reads = reads | cast(frozenset[str], plain)
            code = PRESENCE if reads == frozenset() else names.field_set(reads)
            masks[code] = masks.get(code, np.zeros(count, np.bool_)) | rows
        plain_parts = [(None if mask.all() else mask, code) for code, mask in masks.items()]
        whys: list[tuple[Bools | None, Trail]] = []
        sups: list[tuple[Bools | None, Trail]] = []
        for mask, code in plain_parts:
            asked = event.why.ask(code)
            whys.append((mask, asked))
            sups.append((mask, asked if event.sup is event.why else event.sup.ask(code)))
        for guard, mask in dynamic.items():
            why, sup = self._read_by(guard, front, mask)
            whys.append((mask, why))
            sups.append((mask, sup))
        same = all(w[1] is s[1] for w, s in zip(whys, sups, strict=True))
        why_trail = _one(count, whys)
        return why_trail, why_trail if same else _one(count, sups)

    def _read_by(self, guard: int, front: Front, tried: Bools) -> tuple[Trail, Trail]:
        """What a guard read of each event; where it was not tried it may well fail."""
        compiled = self.compiled[guard]
        try:
            _, why, sup = compiled.trace(front)
        except RowFault:
            _, some_why, some_sup = compiled.trace(front.take(np.flatnonzero(tried)))
            rows = np.where(tried, np.cumsum(tried) - 1, -1)
            why = some_why.take(rows)
            sup = why if some_sup is some_why else some_sup.take(rows)
        return why, sup

    def open(self) -> Entries:
        """Where states are silent, every input so far could have made it say more."""
        if self.regular or self.elements is None:
            return NONE
        last = self.last[self.last >= 0]
        return Spans.points(self.elements.target, WHOLE, last).entries(np.arange(len(last)))

    def save(self) -> State:
        """The stacks of all slots."""
        return {
            "state": self.state,
            "height": self.height,
            "stack_state": self.stack_state,
            "stack_element": self.stack_element,
            "depth": self.depth,
            "last": self.last,
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on with the same stacks."""
        for name, array in state.items():
            setattr(self, name, array)


def _one(count: int, parts: list[tuple[Bools | None, Trail]]) -> Trail:
    if len(parts) == 1 and parts[0][0] is None:
        return parts[0][1]
    return Chosen(count, parts)


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


@jit
def _step(
    slot: Ints,
    holds: Bools,
    elements: Ints,
    guard_of: Bytes,
    target_of: Bytes,
    state: Bytes,
    height: Bytes,
    stack_state: Bytes,
    stack_element: Ints,
    depth: Bytes,
    trap: Bools,
    last: Ints,
    reached: Bytes,
    before: Bytes,
    tried: Bytes,
    parent: Ints,
    prior: Ints,
    tracked: bool,
) -> int:
    """A step for every event; return the first row that has nowhere to go, else -1."""
    for row in range(len(slot)):
        s = slot[row]
        here = state[s]
        before[row] = here
        tries = 0
        while guard_of[here, tries] >= 0 and not holds[row, guard_of[here, tries]]:
            tries += 1
        to = target_of[here, tries]
        if to < 0:
            return row
        tried[row] = tries + 1 if guard_of[here, tries] >= 0 else tries
        state[s] = to
        reached[row] = to
        if tracked:
            prior[row] = last[s]
            if not trap[here]:
                last[s] = elements[row]
            top = height[s]
            parent[row] = stack_element[s, top - 1]
            known = depth[s, to]
            if known < 0:
                depth[s, to] = top
                stack_state[s, top] = to
                stack_element[s, top] = elements[row]
                height[s] = top + 1
            else:
                for above in range(known + 1, top):
                    depth[s, stack_state[s, above]] = -1
                height[s] = known + 1
    return -1
