"""``add``, ``product``, ``min`` and ``max`` over slices, on arrays.

Numbers of one kind are kept in arrays. What is unusual (a missing value, mixed kinds, a number that
is not finite, one that comes near an overflow) ends that: from the row that met it on, the
interpreter's own aggregates say what is given, and what is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from whence.engine.kernels.columns.column import Bools, Column, Ints, concat, missing
from whence.engine.kernels.columns.growing import roomy
from whence.engine.kernels.columns.texts import Texts
from whence.engine.kernels.expressions.expression import RowFault
from whence.engine.kernels.folds.combining import (
    ALL_HEADS,
    HEADS,
    INPUTS,
    NOBODY,
    PICKED,
    PICKED_EVENTS,
    Changes,
    Combined,
    Combining,
)
from whence.engine.kernels.folds.combining_loops import (
    fold_floats,
    fold_integers,
    link_slices,
    pick_best,
    replant,
)
from whence.engine.kernels.kernel import State

__all__ = ["Extremes", "Folds"]

_INT, _FLOAT = np.dtype(np.int64), np.dtype(np.float64)


class _Numbers(Combining):
    """The heads of all slices as numbers of one kind, as long as nothing unusual comes.

    Attributes:
        kind: of all heads so far; empty before the first one.
        plain: whether the arrays are still enough.
    """

    kinds: tuple[str, ...] = ("integer", "float")
    of_slices: tuple[str, ...] = ("outer", "data", "speaks")
    of_outer: tuple[str, ...] = ("speaking",)

    def __init__(self, name: str, texts: Texts, **options: bool) -> None:
        super().__init__(name, texts, **options)
        self.kind = ""
        self.plain = True
        self.slots = 0
        self.outers = 0
        self.outer: Ints = np.zeros(64, np.int64)
        self.data: npt.NDArray[Any] = np.zeros(64, np.int64)
        self.speaks: Bools = np.zeros(64, np.bool_)
        self.speaking: Ints = np.zeros(64, np.int64)

    def begin(self, outer: Ints, keys: Column) -> None:
        """New slices, in the order of their numbers."""
        if not self.plain:
            super().begin(outer, keys)
            return
        start = self.slots
        self.slots += len(outer)
        self.outers = max(self.outers, int(outer.max(initial=0)) + 1)
        self._make_room()
        if outer.any():
            self.outer[start : self.slots] = outer
        self._begun(start, outer)

    def _make_room(self) -> None:
        for names, count in ((self.of_slices, self.slots), (self.of_outer, self.outers)):
            for name in names:
                setattr(self, name, roomy(getattr(self, name), count))

    def _begun(self, start: int, outer: Ints) -> None:
        """Take in where the new slices stand among those of their outer slot."""

    def combine(self, outers: Ints, changes: Changes) -> Combined:
        """Take in the changes and say what all slices of each row's outer slot give."""
        if self.plain:
            self.outers = max(self.outers, int(outers.max(initial=0)) + 1)
            self._make_room()
            if not self._fits(changes):
                self._leave()
        if not self.plain:
            return super().combine(outers, changes)
        data = changes.values.data
        if data.dtype != self.data.dtype:
            data = np.zeros(len(changes.row), self.data.dtype)  # there is no head among them
        stop, combined = self._combined(outers, changes, data)
        if stop == len(outers):
            return combined
        # The changes of that row are in already.
        self._leave()
        later = int(np.searchsorted(changes.row, stop, side="right"))
        rows = np.arange(later, len(changes.row))
        rest = Changes(
            changes.row[later:] - stop,
            changes.slot[later:],
            changes.values.take(rows),
            changes.headed[later:],
        )
        try:
            others = super().combine(outers[stop:], rest)
        except RowFault as fault:
            raise RowFault(fault.row + stop, fault.fault) from fault
        if not stop:
            return others
        return Combined(
            concat([combined.values.slice(0, stop), others.values]),
            np.concatenate([combined.pick[:stop], others.pick]),
            np.concatenate([combined.support[:stop], others.support]),
        )

    def _fits(self, changes: Changes) -> bool:
        """Whether all new heads are present, and of the kind of those before."""
        if not changes.headed.any():
            return True
        kind, valid = changes.values.kind, changes.values.valid
        if kind not in self.kinds or kind != (self.kind or kind):
            return False
        if valid is not None and not valid[changes.headed].all():
            return False
        if not self.kind:
            self.kind = kind
            self.data = self.data.astype(_FLOAT if kind == "float" else _INT)
        return True

    def _combined(
        self, outers: Ints, changes: Changes, data: npt.NDArray[Any]
    ) -> tuple[int, Combined]:
        """Combine on arrays; return the first row that this cannot do, and all before it."""
        raise NotImplementedError

    def _leave(self) -> None:
        """From now on the interpreter's aggregates do it."""
        self.plain = False
        count = self.slots
        outer = self.outer[:count]
        super().begin(outer, missing(count, "any", self.texts))
        heads = Column(self.kind or "integer", self.data[:count], None, self.texts).to_list()
        for slot in np.flatnonzero(self.speaks[:count]).tolist():
            self._update(self._of(int(outer[slot])), slot, heads[slot], headed=True)

    def save(self) -> State:
        """What is known of every slice, and of every outer slot."""
        if not self.plain:
            return {"plain": False, **super().save()}
        slices = {name: getattr(self, name)[: self.slots] for name in self.of_slices}
        outers = {name: getattr(self, name)[: self.outers] for name in self.of_outer}
        return {"plain": True, "kind": self.kind, **slices, **outers}

    def load(self, outer: Ints, keys: Column, state: Mapping[str, Any]) -> None:
        """Go on from what `save` gave."""
        self.plain = state["plain"]
        if not self.plain:
            super().load(outer, keys, state)
            return
        self.kind = state["kind"]
        for name in (*self.of_slices, *self.of_outer):
            setattr(self, name, state[name])
        self.slots, self.outers = len(self.outer), len(self.speaking)
        self._make_room()


class Folds(_Numbers):
    """``add`` and ``product``: integers by what changed, floats folded again from there on.

    The sum of all magnitudes (of the product: the product of all that are not zero) stays far below
    an overflow, so that no partial result can have one either, in whatever order.
    """

    of_slices = (*_Numbers.of_slices, "zero", "after", "prior", "prefix")
    of_outer = (*_Numbers.of_outer, "total", "weight", "first", "newest")

    def __init__(self, name: str, texts: Texts, **options: bool) -> None:
        """Begin without slices."""
        super().__init__(name, texts, **options)
        self.product = name == "product"
        self.zero: Bools = np.zeros(64, np.bool_)
        self.after, self.prior = np.zeros(64, np.int64), np.zeros(64, np.int64)
        self.prefix: npt.NDArray[np.float64] = np.zeros(64)
        self.total, self.weight = np.zeros(64, np.int64), np.zeros(64, np.int64)
        self.first, self.newest = np.zeros(64, np.int64), np.zeros(64, np.int64)

    def _begun(self, start: int, outer: Ints) -> None:
        link_slices(start, outer, self.product, self.after, self.prior, self.newest, self.prefix)

    def _combined(
        self, outers: Ints, changes: Changes, data: npt.NDArray[Any]
    ) -> tuple[int, Combined]:
        count = len(outers)
        pick, speaking = np.empty((2, count), np.int64)
        values = np.empty(count, self.data.dtype)
        changed = (changes.row, changes.slot, changes.headed, data)
        known = (self.data, self.speaks, self.zero, self.after, self.first, self.speaking)
        said = (values, pick, speaking)
        if self.kind == "float":
            chain = (self.prior, self.prefix, self.newest)
            stop = fold_floats(self.product, outers, *changed, *known, *chain, *said)
        else:
            totals = (self.total, self.weight)
            stop = fold_integers(self.product, outers, *changed, *known, *totals, *said)
        column = Column("integer", values, None, self.texts)
        if self.kind == "float":
            column = self._floats(values, speaking)
        return int(stop), Combined(column, pick, self._support(pick))

    def _floats(self, values: npt.NDArray[Any], speaking: Ints) -> Column:
        """Without any slice that speaks the value is an integer all the same."""
        column = Column("float", values, None, self.texts)
        silent = speaking == 0
        if not silent.any():
            return column
        mixed = column.to_any()
        mixed.data[silent] = int(self.product)
        return mixed

    def _support(self, pick: Ints) -> npt.NDArray[np.uint8]:
        irregular = self.options["irregular"]
        support = np.zeros(len(pick), np.uint8)
        support[pick == ALL_HEADS] = INPUTS if irregular else HEADS
        if not self.product:
            return support
        if irregular:
            # A slice left out could speak and be missing; then zero times missing is missing.
            alone = PICKED_EVENTS | (INPUTS if self.options["may_be_missing"] else 0)
        else:
            alone = PICKED | (HEADS if self.options["may_vanish"] else 0)
        support[pick >= 0] = alone
        return support


class Extremes(_Numbers):
    """``min`` and ``max``: the slices of every outer slot in a tree, the better one of two above.

    Attributes:
        tree: all trees one after the other; a node names its slot, counted from 1.
        base: where the tree of an outer slot begins.
        room: how many slices it has leaves for.
        size: how many it has.
        leaf: the leaf of each slice in its tree.
    """

    kinds = ("integer", "float", "instant", "duration")
    of_slices = (*_Numbers.of_slices, "leaf")
    of_outer = (*_Numbers.of_outer, "base", "room", "size")

    def __init__(self, name: str, texts: Texts, **options: bool) -> None:
        """Begin without slices."""
        super().__init__(name, texts, **options)
        self.leaf: Ints = np.zeros(64, np.int64)
        self.base, self.room, self.size = (np.zeros(64, np.int64) for _ in range(3))
        self.tree: Ints = np.zeros(64, np.int64)
        self.planted = 0

    def _begun(self, start: int, outer: Ints) -> None:
        if not len(outer):
            return
        owners, back, counts = np.unique(outer, return_inverse=True, return_counts=True)
        # The n-th new slice of its outer slot has the n-th free leaf.
        order = np.argsort(back, kind="stable")
        begins = np.cumsum(counts) - counts
        nth = np.empty(len(outer), np.int64)
        nth[order] = np.arange(len(outer)) - np.repeat(begins, counts)
        self.leaf[start : self.slots] = self.size[outer] + nth
        self.size[owners] += counts
        tight = owners[self.size[owners] > self.room[owners]]
        if not len(tight):
            return
        room = 2 ** np.ceil(np.log2(np.maximum(self.size[tight], 4))).astype(np.int64)
        bases = self.planted + np.cumsum(2 * room) - 2 * room
        self.planted += int(2 * room.sum())
        self.tree = roomy(self.tree, self.planted)
        replant(tight, room, bases, self.room, self.base, self.tree, self.data, self._smallest)

    @property
    def _smallest(self) -> bool:
        return self.name == "min"

    def _fits(self, changes: Changes) -> bool:
        fits = super()._fits(changes)
        if not fits or self.kind != "float" or not changes.headed.any():
            return fits
        return not np.isnan(changes.values.data[changes.headed]).any()

    def _combined(
        self, outers: Ints, changes: Changes, data: npt.NDArray[Any]
    ) -> tuple[int, Combined]:
        count = len(outers)
        pick = np.empty(count, np.int64)
        values = np.zeros(count, self.data.dtype)
        pick_best(
            self._smallest,
            outers,
            changes.row,
            changes.slot,
            changes.headed,
            data,
            self.data,
            self.speaks,
            self.leaf,
            self.base,
            self.room,
            self.tree,
            values,
            pick,
        )
        support = np.full(len(pick), INPUTS if self.options["irregular"] else HEADS, np.uint8)
        silent = pick == NOBODY
        valid: Bools | None = None
        if silent.any():
            support[silent] = 0
            valid = ~silent
        kind = self.kind or "any"
        if kind == "any":
            return count, Combined(missing(count, "any", self.texts), pick, support)
        return count, Combined(Column(kind, values, valid, self.texts), pick, support)

    def save(self) -> State:
        """The trees too."""
        if not self.plain:
            return super().save()
        return {**super().save(), "tree": self.tree[: self.planted]}

    def load(self, outer: Ints, keys: Column, state: Mapping[str, Any]) -> None:
        """Go on from what `save` gave."""
        super().load(outer, keys, state)
        if self.plain:
            self.tree = state["tree"]
            self.planted = len(self.tree)
