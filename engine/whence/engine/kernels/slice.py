"""Slice on batches: every key has a slot, P runs once a batch for all of them."""

from __future__ import annotations

from typing import cast

import numpy as np

from whence.engine.events import Position
from whence.engine.expression import raw_field
from whence.engine.kernels.batch import Batch, Front
from whence.engine.kernels.columns import Bools, Ints, missing
from whence.engine.kernels.combining_fast import combining
from whence.engine.kernels.combining import (
    ALL_HEADS,
    HEADS,
    INPUTS,
    NOBODY,
    PICKED,
    PICKED_EVENTS,
    Changes,
    Combined,
)
from whence.engine.kernels.entries import NONE, WHOLE, Entries
from whence.engine.kernels.expressions import RowFault, compile_columns
from whence.engine.kernels.jit import jit
from whence.engine.kernels.kernel import Born, Heads, Kernel, Place
from whence.engine.kernels.slots import Sliced, Slots
from whence.engine.kernels.so_far import SoFar
from whence.engine.kernels.trails import Chosen, Gathered, Line, Listed, Nothing, Spans, Trail, union
from whence.engine.processors.slice import Slice

__all__ = ["kernel"]

_EVERYWHERE = 2**62


def kernel(place: Place) -> Kernel | None:
    """The kernel of a Slice."""
    return SliceKernel(place)


class SliceKernel(Kernel):
    """All slices of all instances at work, and what they give together."""

    def __init__(self, place: Place) -> None:
        """Begin without slices."""
        from whence.engine.kernels.scope import KernelChain

        super().__init__(place)
        self.declared = cast(Slice, place.processor)
        assert place.inner is not None
        inner = place.inner
        traits = inner.outputs[0]
        self.irregular = not traits.regular
        self.given = self.declared.key_given(place.inputs)
        self.raw = raw_field(self.declared.key, place.inputs)
        self.key = compile_columns(self.declared.key, place.inputs, place.run)
        self.row_of: Ints = np.empty(0, np.int64)
        self.first_row = 0
        self.outputs = 0
        self.front: Front | None = None
        self.closing: tuple[int, Ints] | None = None
        self.chain = KernelChain(
            inner,
            self.run,
            slotted=True,
            window=place.window,
            outer=self._outer,
            top=self._top,
        )
        self.closes = self.run.closed and self.declared.inner.closes
        self.keeps_inputs = self.closes and (self.irregular or not self.given)
        self.reset()
        self.inputs_so_far = SoFar(place, "inputs")
        self.in_slices = SoFar(place, "in-slices")
        self.keys_so_far = SoFar(place, "keys")
        inside = _inside(place, self._top)
        self.slice_events = SoFar(inside, "slice-events")
        self.heads = self._heads_stream()
        self.exit = self.chain.steps[inner.exits[0][0]].kept[inner.exits[0][1]]

    def reset(self) -> None:
        """Forget all slices."""
        super().reset()
        assert self.place.inner is not None
        traits = self.place.inner.outputs[0]
        self.slots = Slots(self.run.texts)
        self.rows = 0
        self.combining = combining(
            self.declared.combine,
            self.run.texts,
            irregular=self.irregular,
            may_vanish=traits.may_vanish,
            may_be_missing=traits.may_be_missing,
        )
        self.head: Ints = np.full(64, -1)
        self.events_at: Ints = np.full(64, -1)
        self.said: Bools = np.zeros(64, np.bool_)

    def _heads_stream(self) -> Heads | None:
        """Where the record keeps the heads: of a Slice that is not inside another processor."""
        place, run = self.place, self.run
        if place.slotted or not run.tracked:
            return None
        name = f"{place.name}/heads"
        heads = Heads(name, place.name, run.names.target(name), -1)
        run.heads[name] = heads
        return heads

    def _outer(self, moment: int) -> Position:
        if self.closing is not None:
            return self.outputs
        assert self.front is not None
        row = int(self.row_of[moment - self.first_row])
        if not self.place.slotted:
            return self.outputs + row
        return (self.place.outer(int(self.front.moment[row])), 0)

    def _top(self, moments: Ints) -> Ints:
        if self.closing is not None:
            first, positions = self.closing
            return positions[moments - first]
        assert self.front is not None
        rows = self.row_of[moments - self.first_row]
        if not self.place.slotted:
            return self.outputs + rows
        return self.place.top(self.front.moment[rows])

    def feed(self, front: Front, born: Born) -> list[Batch]:
        """Send the fronts to their slices, run P, and combine the heads after every front."""
        self._grow_outer(born.count)
        if not len(front):
            return [self.run.empty(slotted=self.place.slotted)]
        try:
            return [self._fed(front)]
        except RowFault as fault:
            self.fail(front, fault.row, fault.fault)

    def _fed(self, front: Front) -> Batch:
        keys = self.key.evaluate(front)
        sliced = self.slots.send(front.slot, keys)
        self._grow_slots()
        new = self.slots.outer[self.slots.count - len(sliced.first) : self.slots.count]
        self.combining.begin(new, sliced.keys)
        self.front, self.row_of, self.first_row = front, sliced.rows, self.rows
        moment = np.arange(self.rows, self.rows + len(sliced.rows))
        inside = [_sent(batch, sliced, moment) for batch in front.pipes]
        begins = Born(sliced.slot[sliced.first], moment[sliced.first], self.slots.count)
        out = self.chain.feed(inside, begins)[0]
        self.rows += len(sliced.rows)
        events = self._note_events(sliced, moment, inside)
        changed = self._changes(out, sliced, moment)
        outer = np.zeros(len(front), np.int64) if front.slot is None else front.slot
        combined = self.combining.combine(outer, changed[0])
        exists = front.exists()
        batch = self._said(front, sliced, combined, changed, out, events, exists)
        self.outputs += len(front)
        self.front = None
        return batch

    def _grow_outer(self, count: int) -> None:
        if count > len(self.said):
            self.said = _longer(self.said, count, False)

    def _grow_slots(self) -> None:
        if self.slots.count > len(self.head):
            self.head = _longer(self.head, self.slots.count, -1)
            self.events_at = _longer(self.events_at, self.slots.count, -1)

    def _note_events(self, sliced: Sliced, moment: Ints, inside: list[Batch]) -> tuple[Trail, Trail]:
        """All events of every slice so far: what supports the head of an irregular P."""
        count = len(moment)
        if not self.tracked or not self.irregular:
            return Nothing(count), Nothing(count)
        why = union(*(batch.why.ask(WHOLE) for batch in inside))
        sup = why
        if any(batch.sup is not batch.why for batch in inside):
            sup = union(*(batch.sup.ask(WHOLE) for batch in inside))
        assert why is not None
        assert sup is not None
        return self.slice_events.add(sliced.slot, moment, why, sup)

    def _changes(
        self, out: Batch, sliced: Sliced, moment: Ints
    ) -> tuple[Changes, Ints, Ints]:
        """The slices whose head, or whose events, changed; with the new heads and events."""
        slot = np.empty(0, np.int64) if out.slot is None else out.slot
        rows = self.row_of[out.moment - self.first_row] if len(out) else slot
        kept = _heads_of(rows, slot, self.head, first=self.declared.take == "first")
        refs = self._refs(out, kept)
        if not self.irregular:
            headed = np.ones(len(kept), np.bool_)
            none = np.full(len(kept), -1)
            return Changes(rows[kept], slot[kept], out.values.take(kept), headed), refs, none
        # Every row of an irregular P's slice changes what supports it, with a head or without.
        of_row = {}
        for number, (r, s) in enumerate(zip(rows[kept].tolist(), slot[kept].tolist(), strict=True)):
            of_row[r, s] = number
        pairs = list(zip(sliced.rows.tolist(), sliced.slot.tolist(), strict=True))
        which = np.array([of_row.get(pair, -1) for pair in pairs], np.int64)
        values = out.values.take(np.where(which >= 0, kept[np.maximum(which, 0)], -1)) if len(
            kept
        ) else missing(len(which), "any", self.run.texts)
        head = np.where(which >= 0, refs[np.maximum(which, 0)], -1) if len(kept) else which
        at = self._event_refs(moment)
        return Changes(sliced.rows, sliced.slot, values, which >= 0), head, at

    def _refs(self, out: Batch, rows: Ints) -> Ints:
        """How heads are named from now on: by kept position, or by row inside a Window."""
        if self.exit is None or not self.tracked:
            return rows
        positions = out.why.take(rows)
        if isinstance(positions, Spans):
            return positions.lo
        return np.empty(0, np.int64)

    def _event_refs(self, moment: Ints) -> Ints:
        if not self.tracked or self.place.window:
            return moment - self.first_row
        kept = self.slice_events.kept
        assert kept is not None
        return kept.parts[-1].positions

    def _said(
        self,
        front: Front,
        sliced: Sliced,
        combined: Combined,
        changed: tuple[Changes, Ints, Ints],
        out: Batch,
        events: tuple[Trail, Trail],
        exists: Trail | None,
    ) -> Batch:
        count = len(front)
        changes, refs, event_refs = changed
        if not self.tracked:
            self._remember(changes, refs, event_refs)
            nothing = Nothing(count)
            return Batch(combined.values, front.moment, front.slot, nothing, nothing, None)
        lists = self._head_lists(front, combined, changes, refs)
        picked = self._picked(combined, changes, refs, event_refs)
        self._remember(changes, refs, event_refs)
        trails = self._trails(front, sliced, combined)
        return self._explained(
            combined, picked, lists, out, events, trails, front.moment, front.slot, exists
        )

    def _remember(self, changes: Changes, refs: Ints, event_refs: Ints) -> None:
        headed = np.flatnonzero(changes.headed)
        if self.heads is not None and self.exit is not None and len(headed):
            self.heads.head_target = self.exit.target
            self.heads.changes.append(
                (self.outputs + changes.row[headed], changes.slot[headed], refs[headed])
            )
        self.head[changes.slot[headed]] = refs[headed]
        self.events_at[changes.slot] = event_refs

    def _picked(
        self, combined: Combined, changes: Changes, refs: Ints, event_refs: Ints
    ) -> tuple[Ints, Ints]:
        """The head, and the newest event, of the picked slice of every row."""
        pick = combined.pick
        head, event = np.full(len(pick), -1), np.full(len(pick), -1)
        if self.irregular:
            headed = np.flatnonzero(changes.headed)
            rows, slots = changes.row[headed], changes.slot[headed]
            _as_of(pick, rows, slots, refs[headed], self.head, head)
            _as_of(pick, changes.row, changes.slot, event_refs, self.events_at, event)
        else:
            _as_of(pick, changes.row, changes.slot, refs, self.head, head)
        return head, event

    def _head_lists(
        self, front: Front, combined: Combined, changes: Changes, refs: Ints
    ) -> tuple[Ints, Ints] | None:
        """All heads of every row that needs them, where the record keeps no zones of heads."""
        if self.heads is not None:
            return None
        needs = (combined.pick == ALL_HEADS) | ((combined.support & HEADS) > 0)
        head = self.head.copy()
        lists: list[Ints] = []
        ends = np.searchsorted(changes.row, np.arange(len(front)), side="right").tolist()
        slots, headed = changes.slot, changes.headed
        outers = [0] * len(front) if front.slot is None else front.slot.tolist()
        at = 0
        none = np.empty(0, np.int64)
        owners = self.slots.outer[: self.slots.count]
        members = {owner: np.flatnonzero(owners == owner) for owner in set(outers)}
        for row, (owner, need) in enumerate(zip(outers, needs.tolist(), strict=True)):
            for change in range(at, ends[row]):
                if headed[change]:
                    head[slots[change]] = refs[change]
            at = ends[row]
            found = none
            if need:
                found = head[members[owner]]
                found = found[found >= 0]
            lists.append(found)
        starts = np.concatenate(([0], np.cumsum([len(found) for found in lists])))
        return starts, np.concatenate(lists) if lists else none

    def _trails(
        self, front: Front, sliced: Sliced, combined: Combined
    ) -> tuple[tuple[Trail, Trail], tuple[Trail, Trail], Trail | None]:
        """All inputs so far, those that went to any slice, and what the keys lean on."""
        why = union(*(batch.why.ask(WHOLE) for batch in front.pipes))
        assert why is not None
        sup = why
        if any(batch.sup is not batch.why for batch in front.pipes):
            sup = union(*(batch.sup.ask(WHOLE) for batch in front.pipes)) or why
        silent = combined.pick == NOBODY
        nothing = Nothing(len(front))
        inputs: tuple[Trail, Trail] = (nothing, nothing)
        if self.keeps_inputs:
            inputs = self.inputs_so_far.add(front.slot, front.moment, why, sup)
        elif silent.any():
            # As soon as one slice speaks, one always does.
            inputs = self.inputs_so_far.add(front.slot, front.moment, why, sup, silent)
        in_slices: tuple[Trail, Trail] = (nothing, nothing)
        if self.irregular:
            went: Bools | None = None
            if len(sliced.empty):
                went = np.ones(len(front), np.bool_)
                went[sliced.empty] = False
            in_slices = self.in_slices.add(front.slot, front.moment, why, sup, went)
        keys: Trail | None = None
        if not self.given:
            lean: Trail | None = None if self.raw else self.key.trace(front).sup
            lean = union(lean, front.exists()) or nothing
            keys = self.keys_so_far.add(front.slot, front.moment, lean, lean)[1]
        return inputs, in_slices, keys

    def _explained(
        self,
        combined: Combined,
        picked: tuple[Ints, Ints],
        lists: tuple[Ints, Ints] | None,
        out: Batch,
        events: tuple[Trail, Trail],
        trails: tuple[tuple[Trail, Trail], tuple[Trail, Trail], Trail | None],
        moment: Ints,
        slot: Ints | None,
        exists: Trail | None,
    ) -> Batch:
        count = len(moment)
        pick, support = combined.pick, combined.support
        inputs, in_slices, keys = trails
        head_why, head_sup = self._head_trails(out)
        event_sup = self._event_trails(events)
        every_why, every_sup = self._every(count, lists, head_why, head_sup)
        of_pick = Gathered(head_why, picked[0])
        why = _chosen(
            count,
            (pick >= 0, of_pick),
            (pick == ALL_HEADS, every_why),
            (pick == NOBODY, inputs[0]),
        )
        enough = _chosen(
            count,
            ((support & PICKED) > 0, Gathered(head_sup, picked[0])),
            ((support & PICKED_EVENTS) > 0, Gathered(event_sup, picked[1])),
            ((support & HEADS) > 0, every_sup),
            ((support & INPUTS) > 0, in_slices[1]),
            (pick == NOBODY, inputs[1]),
        )
        sup = union(enough, keys, exists)
        assert sup is not None
        return Batch(combined.values, moment, slot, why, sup, exists)

    def _head_trails(self, out: Batch) -> tuple[Trail, Trail]:
        if self.exit is not None:
            line = Line(self.exit.target, WHOLE, _EVERYWHERE, 0, 0)
            return line, line
        return out.why.ask(WHOLE), out.sup.ask(WHOLE)

    def _event_trails(self, events: tuple[Trail, Trail]) -> Trail:
        kept = self.slice_events.kept
        return events[1] if kept is None else Line(kept.target, WHOLE, _EVERYWHERE, 0, 0)

    def _every(
        self, count: int, lists: tuple[Ints, Ints] | None, why: Trail, sup: Trail
    ) -> tuple[Trail, Trail]:
        if lists is None:
            assert self.heads is not None
            line = Line(self.heads.target, WHOLE, count, self.outputs, self.outputs)
            return line, line
        starts, places = lists
        listed = Listed(why, starts, places)
        return listed, listed if sup is why else Listed(sup, starts, places)

    def close(self, slots: Ints, moments: Ints) -> list[Batch] | None:
        """Close every slice's P and, where that gave any output, say once more."""
        if not self.declared.inner.closes:
            return None
        count = self.slots.count
        owner = self.slots.outer[:count]
        order_of = np.empty(int(slots.max(initial=0)) + 1, np.int64)
        order_of[slots] = np.arange(len(slots))
        inner = np.lexsort((np.arange(count), order_of[owner])) if count else np.empty(0, np.int64)
        first = self.rows
        if self.place.slotted:
            positions = self.place.top(moments[order_of[owner[inner]]])
        else:
            positions = np.full(count, self.outputs)
        self.closing = (first, positions)
        out = self.chain.close(inner, first + np.arange(count))[0]
        self.rows += count
        batch = self._close(out, inner, first, owner, slots, moments, order_of)
        self.closing = None
        return [batch]

    def _close(
        self,
        out: Batch,
        inner: Ints,
        first: int,
        owner: Ints,
        slots: Ints,
        moments: Ints,
        order_of: Ints,
    ) -> Batch:
        if not len(out) or out.slot is None:
            return self.run.empty(slotted=self.place.slotted)
        owners = owner[out.slot]
        spoke = np.unique(order_of[owners])
        row_of_owner = np.full(len(order_of), -1)
        row_of_owner[slots[spoke]] = np.arange(len(spoke))
        rows = row_of_owner[owners]
        kept = _heads_of(rows, out.slot, self.head, first=self.declared.take == "first")
        refs = self._refs(out, kept)
        self.said[slots[spoke]] = True
        changes = Changes(
            rows[kept], out.slot[kept], out.values.take(kept), np.ones(len(kept), np.bool_)
        )
        event_refs = self.events_at[changes.slot]
        said = slots[spoke]
        combined = self.combining.combine(said, changes)
        here = moments[spoke]
        slot = said if self.place.slotted else None
        if not self.tracked:
            self._remember(changes, refs, event_refs)
            nothing = Nothing(len(here))
            return Batch(combined.values, here, slot, nothing, nothing, None)
        nothing = Nothing(len(here))
        front = Front((), here, slot)
        lists = self._head_lists(front, combined, changes, refs)
        picked = self._picked(combined, changes, refs, event_refs)
        # The slices that spoke at closing, those with a new head or not, in order of slots.
        talked = np.unique(out.slot)
        self._remember(changes, refs, event_refs)
        keys = self._last_of(self.keys_so_far, slot, here) if not self.given else None
        in_slices = nothing if not self.irregular else self._last_of(self.in_slices, slot, here)
        trails = ((nothing, nothing), (in_slices, in_slices), keys)
        exists = self._why_once_more(combined, talked, said, slot, here, keys)
        return self._explained(
            combined, picked, lists, out, (nothing, nothing), trails, here, slot, exists
        )

    def _last_of(self, so_far: SoFar, slot: Ints | None, moment: Ints) -> Trail:
        """All that was added so far, for some slots."""
        return so_far.now(slot, len(moment))

    def _why_once_more(
        self,
        combined: Combined,
        talked: Ints,
        said: Ints,
        slot: Ints | None,
        moment: Ints,
        keys: Trail | None,
    ) -> Trail | None:
        """What a closing output rests on: that one slice's P gave something."""
        if not self.place.regular:
            return self.run.everything().take(np.zeros(len(moment), np.int64))
        if not self.irregular and self.given:
            return None
        if not self.irregular:
            return keys
        best = []
        for row, owner in enumerate(said.tolist()):
            mine = talked[self.slots.outer[talked] == owner].tolist()
            pick = int(combined.pick[row])
            best.append(pick if pick in mine else mine[0])
        at = self.events_at[np.array(best, np.int64)]
        kept = self.slice_events.kept
        assert kept is not None
        return union(Spans.points(kept.target, WHOLE, at), keys)

    def open(self) -> Entries:
        """All inputs, if closing could have given an output but did not."""
        if not self.keeps_inputs or not self.tracked:
            return NONE
        silent = np.flatnonzero(~self.said[: self._outer_count()])
        return self.inputs_so_far.now(silent if self.place.slotted else None, len(silent)).entries(
            np.arange(len(silent))
        )

    def _outer_count(self) -> int:
        return len(self.said) if self.place.slotted else 1


def _inside(place: Place, top: object) -> Place:
    """The place of a helper inside the Slice: of slots, named like the Slice."""
    from dataclasses import replace

    return replace(place, slotted=True, top=top)  # type: ignore[arg-type]


def _longer(array: np.ndarray, count: int, fill: object) -> np.ndarray:  # type: ignore[type-arg]
    more = np.full(max(count, 2 * len(array)), fill, array.dtype)
    more[: len(array)] = array
    return more


def _sent(batch: Batch, sliced: Sliced, moment: Ints) -> Batch:
    """A pipe's events as the slices see them: they are there by definition."""
    same = len(sliced.rows) == len(batch) and not len(sliced.empty)
    if same and (sliced.rows == np.arange(len(batch))).all():
        return Batch(batch.values, moment, sliced.slot, batch.why, batch.sup, batch.exists)
    taken = batch.take(sliced.rows)
    return Batch(taken.values, moment, sliced.slot, taken.why, taken.sup, taken.exists)


def _heads_of(rows: Ints, slot: Ints, head: Ints, *, first: bool) -> Ints:
    """Of the outputs of each slice after each row, the one that is its head then."""
    count = len(rows)
    if not count:
        return np.empty(0, np.int64)
    if not first and (np.diff(rows) > 0).all():
        return np.arange(count)
    if first:
        _, begins = np.unique(slot, return_index=True)
        begins = np.sort(begins)
        return begins[head[slot[begins]] < 0]
    order = np.lexsort((np.arange(count), slot, rows))
    last = np.ones(count, np.bool_)
    last[:-1] = (np.diff(rows[order]) != 0) | (np.diff(slot[order]) != 0)
    return np.sort(order[last])


@jit
def _as_of(
    pick: Ints, change_row: Ints, change_slot: Ints, change: Ints, now: Ints, found: Ints
) -> None:
    """For every row what its picked slot has by then; ``now`` takes in the changes."""
    at = 0
    for row in range(len(pick)):
        while at < len(change_row) and change_row[at] == row:
            now[change_slot[at]] = change[at]
            at += 1
        if pick[row] >= 0:
            found[row] = now[pick[row]]


def _chosen(count: int, *parts: tuple[Bools, Trail]) -> Trail:
    """What is chosen for each row; what is never chosen is left out."""
    used = [(None if mask.all() else mask, trail) for mask, trail in parts if mask.any()]
    if not used:
        return Nothing(count)
    if len(used) == 1 and used[0][0] is None:
        return used[0][1]
    return Chosen(count, used)


