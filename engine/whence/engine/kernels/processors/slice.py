"""Slice on batches: every key has a slot, and P runs once a batch for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np

from whence.engine.interpreter.pending import InSlices, in_slices
from whence.engine.kernels.batch import Batch, Front
from whence.engine.kernels.columns.column import Bools, Ints, missing
from whence.engine.kernels.columns.lazy_ints import made, rows_from
from whence.engine.kernels.columns.slot_table import SlotTable
from whence.engine.kernels.expressions.expression import RowFault, compile_columns
from whence.engine.kernels.folds.combining import Changes, Combined
from whence.engine.kernels.folds.combining_fast import combining
from whence.engine.kernels.kernel import Born, Kernel, Place, State
from whence.engine.kernels.slots import Sliced, Slots
from whence.engine.kernels.trails.entries import NONE, Entries
from whence.engine.kernels.trails.reasons import Reasons
from whence.engine.kernels.trails.slice_trails import Leading, Named, SliceTrails
from whence.engine.kernels.trails.trail import Trail
from whence.engine.language.events import Position
from whence.engine.language.expression import raw_field
from whence.engine.processors.slice import EACH, Slice

__all__ = ["kernel"]


def kernel(place: Place) -> Kernel | None:
    """The kernel of a Slice; one that combines nothing runs as the interpreter does."""
    if cast(Slice, place.processor).combine == EACH:
        return None
    return SliceKernel(place)


class _Said(SlotTable):
    """Which outer slots had a closing output."""

    said: Bools


class SliceKernel(Kernel):
    """All slices of all instances at work, and what they give together."""

    def __init__(self, place: Place) -> None:
        from whence.engine.kernels.scope import KernelChain

        super().__init__(place)
        self.declared = cast(Slice, place.processor)
        assert place.inner is not None
        inner = place.inner
        self.inner = inner.outputs[0]
        self.irregular = not self.inner.regular
        self.given = self.declared.key_given(place.inputs)
        self.raw = raw_field(self.declared.key, place.inputs)
        self.key = compile_columns(self.declared.key, place.inputs, place.run)
        self.first = self.declared.take == "first"
        self.outputs = 0
        self.rows = 0
        self.first_row = 0
        self.row_of: Ints = np.empty(0, np.int64)
        self.one_each = True
        self.topped: tuple[Ints, Ints] | None = None
        self.front: Front | None = None
        self.closing: Ints | None = None
        self.chain = KernelChain(
            inner,
            self.run,
            slotted=True,
            window=place.window,
            outer=self._outer,
            top=self._top,
        )
        closes = self.run.closed and self.declared.inner.closes
        number, pipe = inner.exits[0]
        self.trails = SliceTrails(
            place,
            irregular=self.irregular,
            first=self.first,
            given=self.given,
            keeps_inputs=closes and (self.irregular or not self.given),
            exit=self.chain.steps[number].kept[pipe],
            top=self._top,
        )
        self.reset()

    def reset(self) -> None:
        super().reset()
        self.slots = Slots(self.run.texts)
        self.rows = 0
        self.combining = combining(
            self.declared.combine,
            self.run.texts,
            irregular=self.irregular,
            may_vanish=self.inner.may_vanish,
            may_be_missing=self.inner.may_be_missing,
        )
        self.outers = _Said(1, said=False)
        self.trails.forget()

    def _outer(self, moment: int) -> Position:
        if self.closing is not None:
            return int(self.closing[moment - self.first_row])
        assert self.front is not None
        row = int(self.row_of[moment - self.first_row])
        if not self.place.slotted:
            return self.outputs + row
        return self.place.inside(self.front.moments(), row)

    def _top(self, moments: Ints) -> Ints:
        if self.topped is None or self.topped[0] is not moments:
            self.topped = (moments, self._topped(moments))
        return self.topped[1]

    def _topped(self, moments: Ints) -> Ints:
        if self.closing is not None:
            return self.closing[moments - self.first_row]
        assert self.front is not None
        if not self.place.slotted and self.one_each:
            return moments + (self.outputs - self.first_row)
        rows = self.row_of[moments - self.first_row]
        if not self.place.slotted:
            return self.outputs + rows
        return self.place.top(self.front.moment[rows])

    def feed(self, front: Front, born: Born) -> list[Batch]:
        """Send the fronts to their slices, run P, and combine the heads after every front."""
        self.outers.grow(born.count)
        if not len(front):
            return [self.run.empty(slotted=self.place.slotted)]
        try:
            return [self._fed(front)]
        except RowFault as fault:
            self.fail(front, fault.row, fault.fault)

    def _fed(self, front: Front) -> Batch:
        sliced = self.slots.send(front.slot, self.key.evaluate(front))
        count = len(self.slots)
        self.trails.grow(count)
        self.combining.begin(self.slots.outer[count - len(sliced.first) :], sliced.keys)
        self.front, self.row_of, self.first_row = front, sliced.rows, self.rows
        self.one_each = sliced.one_each
        moment = np.arange(self.rows, self.rows + len(sliced.rows))
        inside = [_sent(batch, sliced, moment) for batch in front.pipes]
        begins = Born(sliced.slot[sliced.first], moment[sliced.first], count)
        out = self.chain.feed(inside, begins)[0]
        self.rows += len(sliced.rows)
        newest, events = self.trails.note_events(sliced.slot, moment, inside)
        named = self._changed(out, moment, sliced, newest)
        outers = np.zeros(len(front), np.int64) if front.slot is None else front.slot
        combined = self.combining.combine(outers, named.changes)
        reasons = Reasons.nothing(len(front))
        if self.tracked:
            key = None if self.raw or self.given else self.key.trace(front).sup
            leading = self.trails.leading(front, sliced, combined.pick, key)
            exists = front.exists()
            reasons = self._lead(combined, outers, named, leading, out, events, exists)
        self.trails.remember(named, self.outputs)
        self.outputs += len(front)
        self.front = self.topped = None
        return Batch(combined.values, front.moment, front.slot, *reasons)

    def _lead(
        self,
        combined: Combined,
        outers: Ints,
        named: Named,
        leading: Leading,
        out: Batch,
        events: Trail,
        exists: Trail | None,
    ) -> Reasons:
        lists = self.trails.head_lists(outers, combined, named, self.slots)
        picked = self.trails.picked(combined.pick, named)
        return self.trails.explained(
            combined, picked, lists, leading, out, events, self.outputs, exists
        )

    def _changed(self, out: Batch, moment: Ints, sliced: Sliced, newest: Ints) -> Named:
        """The slices whose head, or whose events, changed."""
        slot = np.empty(0, np.int64) if out.slot is None else out.slot
        one_each = out.moment is moment and sliced.one_each and not self.first
        if one_each and not self.irregular:
            # Every row has one output, and that is the head of its slice then.
            rows, headed = rows_from(0, len(out)), np.ones(len(out), np.bool_)
            return Named(Changes(rows, slot, out.values, headed), self.trails.named(out), newest)
        rows = self.row_of[made(out.moment) - self.first_row] if len(out) else slot
        kept = _heads_of(rows, slot, self.trails.head, first=self.first)
        refs = self.trails.name_heads(out, kept)
        if not self.irregular:
            headed = np.ones(len(kept), np.bool_)
            changes = Changes(rows[kept], slot[kept], out.values.take(kept), headed)
            return Named(changes, refs, newest)
        # Every event of an irregular P's slice changes what supports it, with a head or without.
        count = len(self.slots) + 1
        wanted = sliced.rows * count + sliced.slot
        have = rows[kept] * count + slot[kept]
        order = np.argsort(have)
        place = np.searchsorted(have[order], wanted)
        which = np.full(len(wanted), -1)
        found = np.flatnonzero(place < len(have))
        hits = found[have[order[place[found]]] == wanted[found]]
        which[hits] = order[place[hits]]
        if not len(kept):
            values = missing(len(which), "any", self.run.texts)
            return Named(Changes(sliced.rows, sliced.slot, values, which >= 0), which, newest)
        chosen = np.where(which >= 0, kept[which], -1)
        changes = Changes(sliced.rows, sliced.slot, out.values.take(chosen), which >= 0)
        return Named(changes, np.where(which >= 0, refs[which], -1), newest)

    def close(self, slots: Ints, moments: Ints) -> list[Batch] | None:
        """Close every slice's P and, where that gave any output, say once more."""
        if not self.declared.inner.closes:
            return None
        count = len(self.slots)
        owner = self.slots.outer
        turn = np.zeros(int(slots.max(initial=0)) + 1, np.int64)
        turn[slots] = np.arange(len(slots))
        inner = np.lexsort((np.arange(count), turn[owner]))
        self.first_row = self.rows
        self.closing = np.full(count, self.outputs)
        if self.place.slotted:
            self.closing = self.place.top(moments[turn[owner[inner]]])
        out = self.chain.close(inner, self.rows + np.arange(count))[0]
        self.rows += count
        batch = self.run.empty(slotted=self.place.slotted)
        if len(out) and out.slot is not None:
            spoke = np.unique(turn[owner[out.slot]])
            batch = self._closed(out, slots[spoke], moments[spoke])
        self.closing = self.topped = None
        return [batch]

    def _closed(self, out: Batch, said: Ints, moment: Ints) -> Batch:
        """The closing outputs of the outer slots in which some P gave something."""
        assert out.slot is not None
        row_of = np.zeros(int(said.max()) + 1, np.int64)
        row_of[said] = np.arange(len(said))
        rows = row_of[self.slots.outer[out.slot]]
        kept = _heads_of(rows, out.slot, self.trails.head, first=self.first)
        slot = out.slot[kept]
        headed = np.ones(len(kept), np.bool_)
        changes = Changes(rows[kept], slot, out.values.take(kept), headed)
        newest = self.trails.events_at[slot] if self.irregular else np.empty(0, np.int64)
        named = Named(changes, self.trails.name_heads(out, kept), newest)
        combined = self.combining.combine(said, changes)
        outer = said if self.place.slotted else None
        reasons = Reasons.nothing(len(said))
        if self.tracked:
            leading = self.trails.so_far(outer, len(said))
            talked = np.unique(out.slot)
            exists = self.trails.once_more(combined.pick, talked, said, self.slots, leading.keys)
            reasons = self._lead(combined, said, named, leading, out, reasons.why, exists)
        self.trails.remember(named, self.outputs)
        self.outers.said[said] = True
        return Batch(combined.values, moment, outer, *reasons)

    def open(self) -> Entries:
        """All inputs, if closing could have given an output but did not."""
        if not self.trails.keeps_inputs or not self.tracked:
            return NONE
        said = self.outers.said if self.place.slotted else self.outers.said[:1]
        silent = np.flatnonzero(~said)
        trail = self.trails.inputs_so_far.now(silent if self.place.slotted else None, len(silent))
        return trail.entries(np.arange(len(silent)))

    def undecided(self) -> Ints:
        """How many verdicts wait in each slice; one whose first output counts waits no longer."""
        found = self.chain.waiting_in(len(self.slots))
        if self.first:
            found[self.trails.head[: len(found)] > 0] = 0
        return found

    def pending(self) -> InSlices:
        """In how many slices verdicts wait, and how many."""
        return in_slices(self.undecided().tolist())

    def waiting_in(self, count: int) -> Ints:
        """How many wait in the slices of each slot."""
        found = np.zeros(count, np.int64)
        np.add.at(found, self.slots.outer, self.undecided())
        return found

    def save(self) -> State:
        """All slices, and the state of P in each of them."""
        return {
            "rows": self.rows,
            "outputs": self.outputs,
            "slots": self.slots.save(),
            "chain": self.chain.save(),
            "combining": self.combining.save(),
            "trails": self.trails.save(),
            **self.outers.save(),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self.rows, self.outputs = state["rows"], state["outputs"]
        self.slots.load(state["slots"])
        self.chain.load(state["chain"])
        outer = self.slots.outer
        self.combining.load(outer, self.slots.keys(), state["combining"])
        self.trails.load(state["trails"])
        self.outers.load(state)


def _sent(batch: Batch, sliced: Sliced, moment: Ints) -> Batch:
    """A pipe's events as the slices see them."""
    sent = batch if sliced.one_each else batch.take(sliced.rows)
    return replace(sent, moment=moment, slot=sliced.slot)


def _heads_of(rows: Ints, slot: Ints, head: Ints, *, first: bool) -> Ints:
    """Of the outputs of each slice after each row, the one that is its head then."""
    count = len(rows)
    if first:
        _, begins = np.unique(slot, return_index=True)
        begins = np.sort(begins)
        return cast(Ints, begins[head[slot[begins]] == 0])
    if (np.diff(rows) > 0).all():
        return np.arange(count)
    order = np.lexsort((np.arange(count), slot, rows))
    last = np.ones(count, np.bool_)
    last[:-1] = (np.diff(rows[order]) != 0) | (np.diff(slot[order]) != 0)
    return np.sort(order[last])
