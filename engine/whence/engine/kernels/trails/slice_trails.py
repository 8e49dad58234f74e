"""What the outputs of a Slice on batches lead to: heads, slices, inputs, keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from whence.engine.kernels.batch import Batch, Front
from whence.engine.kernels.columns.column import Bools, Ints
from whence.engine.kernels.columns.lazy_ints import made, rows_from
from whence.engine.kernels.columns.slot_table import SlotTable
from whence.engine.kernels.folds.combining import (
    ALL_HEADS,
    HEADS,
    INPUTS,
    NOBODY,
    PICKED,
    PICKED_EVENTS,
    Changes,
    Combined,
)
from whence.engine.kernels.kernel import Heads, Kept, Place
from whence.engine.kernels.slots import Sliced, Slots
from whence.engine.kernels.trails.composing import Chosen, listed, union
from whence.engine.kernels.trails.entries import WHOLE
from whence.engine.kernels.trails.reasons import Reasons, all_of, together
from whence.engine.kernels.trails.so_far import SoFar
from whence.engine.kernels.trails.trail import Gathered, Line, Nothing, Spans, Trail
from whence.engine.values.jit import jit

__all__ = ["Leading", "Named", "SliceTrails"]

_EVERYWHERE = 2**62
_SO_FAR = ("inputs_so_far", "in_slices", "keys_so_far", "slice_events")


class Named(NamedTuple):
    """How the changed slices are named: heads and events by kept position or, in a Window, by row.

    Attributes:
        changes: the slices that changed.
        heads: the new head of each, where it has one.
        events: the newest event of each, where P is irregular.
    """

    changes: Changes
    heads: Ints
    events: Ints


class Leading(NamedTuple):
    """What outputs may lead to besides heads.

    Attributes:
        inputs: all inputs so far.
        in_slices: those that went to any slice.
        keys: what the keys lean on.
    """

    inputs: Reasons
    in_slices: Trail
    keys: Trail | None


class SliceTrails(SlotTable):
    """Keeps what the outputs of a Slice may lead to.

    Args:
        place: where the Slice stands.
        irregular: P is.
        first: the first output of each slice counts, not the last.
        given: the key is a raw field of the input, and not behind an irregular pipe.
        keeps_inputs: closing may give outputs that lean on all inputs.
        exit: where the record keeps the outputs of P.
        top: from inner moments to positions in the whole stream.

    Attributes:
        head: the head of each slice, by one more than its position, or row in a Window; 0: none.
        events_at: the newest event of each, if P is irregular.
    """

    head: Ints
    events_at: Ints

    def __init__(
        self,
        place: Place,
        *,
        irregular: bool,
        first: bool,
        given: bool,
        keeps_inputs: bool,
        exit: Kept | None,
        top: Callable[[Ints], Ints],
    ) -> None:
        super().__init__(0, head=0, **({"events_at": -1} if irregular else {}))
        self.place = place
        self.run = place.run
        self.irregular = irregular
        self.first = first
        self.given = given
        self.keeps_inputs = keeps_inputs
        self.exit = exit
        self.inputs_so_far = SoFar(place, "inputs")
        self.in_slices = SoFar(place, "in-slices")
        self.keys_so_far = SoFar(place, "keys")
        self.slice_events = SoFar(replace(place, slotted=True, top=top), "slice-events")
        self.heads: Heads | None = None
        if not place.slotted and self.run.tracked:
            # The record keeps the heads of a Slice that is not inside another processor.
            name = f"{place.name}/heads"
            target = -1 if exit is None else exit.target
            self.heads = Heads(name, place.name, self.run.names.target(name), target)
            self.run.heads[name] = self.heads

    def note_events(self, slot: Ints, moment: Ints, inside: list[Batch]) -> tuple[Ints, Trail]:
        """All events of every slice so far: what supports the head of an irregular P.

        Returns:
            How each row's newest event is named, and where they lead inside a Window.
        """
        count = len(moment)
        if not self.run.tracked or not self.irregular or not count:
            return np.empty(0, np.int64), Nothing(count)
        trail = self.slice_events.add(slot, moment, _whole(inside)).sup
        kept = self.slice_events.stream.kept
        return rows_from(0, count) if kept is None else made(kept.parts[-1].positions), trail

    def name_heads(self, out: Batch, rows: Ints) -> Ints:
        """How heads are named from now on: by kept position, or by row inside a Window."""
        if self.exit is None or not self.run.tracked:
            return rows
        return self.named(out)[rows]

    def named(self, out: Batch) -> Ints:
        """The same for all outputs of P."""
        if self.exit is None or not self.run.tracked:
            return rows_from(0, len(out))
        # The record keeps them: their trail leads to one position each.
        return out.why.lo if isinstance(out.why, Spans) else np.empty(0, np.int64)

    def remember(self, named: Named, outputs: int) -> None:
        """The changes are over: these are the heads now."""
        changes, heads = named.changes, named.heads
        row, slots = changes.row, changes.slot
        if self.irregular:
            headed = np.flatnonzero(changes.headed)
            row, slots, heads = row[headed], slots[headed], heads[headed]
            if self.run.tracked:
                self.events_at[changes.slot] = named.events
        if self.heads is not None and len(row):
            self.heads.changes.append((outputs + row, slots, heads))
        if self.run.tracked or self.first:
            _note(slots, heads, self.head)

    def picked(self, pick: Ints, named: Named) -> tuple[Ints, Ints]:
        """The head, and the newest event, of the picked slice of every row."""
        if not (pick >= 0).any():
            none = np.broadcast_to(np.int64(-1), len(pick))
            return none, none
        head, event = np.zeros(len(pick), np.int64), np.full(len(pick), -1)
        changes = named.changes
        if self.irregular:
            headed = np.flatnonzero(changes.headed)
            rows, slots = changes.row[headed], changes.slot[headed]
            _as_of(pick, rows, slots, named.heads[headed] + 1, self.head, head)
            _as_of(pick, changes.row, changes.slot, named.events, self.events_at, event)
        else:
            _as_of(pick, changes.row, changes.slot, named.heads + 1, self.head, head)
        head -= 1
        return head, event

    def head_lists(
        self, outers: Ints, combined: Combined, named: Named, slots: Slots
    ) -> tuple[Ints, Ints] | None:
        """All heads of every row that needs them, where the record keeps no zones of heads."""
        if self.heads is not None:
            return None
        needs = (combined.pick == ALL_HEADS) | ((combined.support & HEADS) > 0)
        head = self.head.copy()
        changes, refs = named.changes, named.heads
        ends = np.searchsorted(changes.row, np.arange(len(outers)), side="right").tolist()
        none = np.empty(0, np.int64)
        lists: list[Ints] = []
        owners = slots.outer
        members = {owner: np.flatnonzero(owners == owner) for owner in set(outers.tolist())}
        at = 0
        for row, (owner, need) in enumerate(zip(outers.tolist(), needs.tolist(), strict=True)):
            for change in range(at, ends[row]):
                if changes.headed[change]:
                    head[changes.slot[change]] = refs[change] + 1
            at = ends[row]
            found = head[members[owner]] if need else none
            lists.append(found[found > 0] - 1)
        starts = np.concatenate(([0], np.cumsum([len(found) for found in lists])))
        return starts, np.concatenate(lists) if lists else none

    def leading(self, front: Front, sliced: Sliced, pick: Ints, key: Trail | None) -> Leading:
        """All inputs so far, those that went to any slice, and what the keys lean on."""
        count = len(front)
        own = _whole(front.pipes)
        silent = pick == NOBODY
        inputs = Reasons.nothing(count)
        nothing = inputs.why
        if self.keeps_inputs:
            inputs = self.inputs_so_far.add(front.slot, front.moments(), own)
        elif silent.any():
            # As soon as one slice speaks, one always does.
            inputs = self.inputs_so_far.add(front.slot, front.moments(), own, silent)
        in_slices = nothing
        if self.irregular:
            went: Bools | None = None
            if len(sliced.empty):
                went = np.ones(count, np.bool_)
                went[sliced.empty] = False
            in_slices = self.in_slices.add(front.slot, front.moments(), own, went).sup
        keys: Trail | None = None
        if not self.given:
            lean = union(key, front.exists()) or nothing
            keys = self.keys_so_far.add(front.slot, front.moments(), Reasons.of(lean)).sup
        return Leading(inputs, in_slices, keys)

    def so_far(self, slot: Ints | None, count: int) -> Leading:
        """The same for closing outputs, after the last input."""
        nothing = Reasons.nothing(count)
        in_slices = self.in_slices.now(slot, count) if self.irregular else nothing.why
        keys = None if self.given else self.keys_so_far.now(slot, count)
        return Leading(nothing, in_slices, keys)

    def explained(
        self,
        combined: Combined,
        picked: tuple[Ints, Ints],
        lists: tuple[Ints, Ints] | None,
        leading: Leading,
        out: Batch,
        events: Trail,
        outputs: int,
        exists: Trail | None,
    ) -> Reasons:
        """What explains and what supports each output."""
        pick, support = combined.pick, combined.support
        count = len(pick)
        inputs, in_slices, keys = leading
        heads = out.reasons.ask()
        if self.exit is not None:
            heads = Reasons.of(Line(self.exit.target, WHOLE, _EVERYWHERE, 0, 0))
        every = self._every(count, lists, heads, outputs)
        plain = heads.agree and not self.irregular and keys is None and exists is None
        if plain and bool((pick == ALL_HEADS).all()) and bool((support == HEADS).all()):
            return Reasons.of(every.why)
        kept = self.slice_events.stream.kept
        if kept is not None:
            events = Line(kept.target, WHOLE, _EVERYWHERE, 0, 0)
        why = _chosen(
            count,
            (pick >= 0, Gathered(heads.why, picked[0])),
            (pick == ALL_HEADS, every.why),
            (pick == NOBODY, inputs.why),
        )
        if plain and not (pick == NOBODY).any() and _only(support, pick):
            return Reasons.of(why)
        enough = _chosen(
            count,
            ((support & PICKED) > 0, Gathered(heads.sup, picked[0])),
            ((support & PICKED_EVENTS) > 0, Gathered(events, picked[1])),
            ((support & HEADS) > 0, every.sup),
            ((support & INPUTS) > 0, in_slices),
            (pick == NOBODY, inputs.sup),
        )
        return Reasons(why, enough).leaning(keys, exists)._replace(exists=exists)

    def _every(
        self, count: int, lists: tuple[Ints, Ints] | None, heads: Reasons, outputs: int
    ) -> Reasons:
        """All heads after each of the outputs."""
        if lists is None:
            assert self.heads is not None
            return Reasons.of(Line(self.heads.target, WHOLE, count, outputs, outputs))
        return together(lambda trail: listed(trail, *lists), heads)

    def once_more(
        self, pick: Ints, talked: Ints, said: Ints, slots: Slots, keys: Trail | None
    ) -> Trail | None:
        """What a closing output rests on: that one slice's P gave something."""
        count = len(pick)
        if not self.place.regular:
            return self.run.everything().take(np.zeros(count, np.int64))
        if not self.irregular:
            return keys
        best = []
        for picked, owner in zip(pick.tolist(), said.tolist(), strict=True):
            mine = talked[slots.outer[talked] == owner].tolist()
            best.append(picked if picked in mine else mine[0])
        at = self.events_at[np.array(best, np.int64)]
        return union(self.slice_events.stream.link(at), keys)

    def save(self) -> dict[str, Any]:
        return {**super().save(), **{name: getattr(self, name).save() for name in _SO_FAR}}

    def load(self, state: Mapping[str, Any]) -> None:
        super().load(state)
        for name in _SO_FAR:
            getattr(self, name).load(state[name])


def _whole(batches: Sequence[Batch]) -> Reasons:
    """What whole fronts lead to."""
    return all_of(*(batch.reasons for batch in batches), each=lambda trail: trail.ask(WHOLE))


def _only(support: np.ndarray, pick: Ints) -> bool:
    """Whether exactly what explains supports: the picked head, or all of them."""
    return bool((support == np.where(pick >= 0, PICKED, HEADS)).all())


def _chosen(count: int, *parts: tuple[Bools, Trail]) -> Trail:
    """What is chosen for each row; what is never chosen is left out."""
    used = [(None if mask.all() else mask, trail) for mask, trail in parts if mask.any()]
    if not used:
        return Nothing(count)
    if len(used) == 1 and used[0][0] is None:
        return used[0][1]
    return Chosen(count, used)


@jit
def _note(slots: Ints, heads: Ints, now: Ints) -> None:
    """These are the heads now; of several of a slice the last one."""
    for change in range(len(slots)):
        now[np.uint64(slots[change])] = heads[change] + 1


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
