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
from whence.engine.kernels.columns.slot_table import SlotTable
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


class _Slices(SlotTable):
    """What is kept of every slice.

    Attributes:
        outer: the outer slot that it belongs to.
        data: its head.
        speaks: whether it has one.
        zero: whether that is zero, of a product.
        after, prior: the slice of its outer slot that appeared after it, and before it.
        prefix: the float that all up to it come to.
        leaf: its leaf in the tree of its outer slot.
    """

    outer: Ints
    data: npt.NDArray[Any]
    speaks: Bools
    zero: Bools
    after: Ints
    prior: Ints
    prefix: npt.NDArray[np.float64]
    leaf: Ints


class _Outers(SlotTable):
    """What is kept of every outer slot.

    Attributes:
        speaking: how many of its slices have a head.
        total, weight: what integers come to, and the bound of their magnitudes.
        first, newest: the first slice that is zero or has changed, and the newest one.
        base, room, size: where its tree begins, how many leaves that has, and how many are used.
    """

    speaking: Ints
    total: Ints
    weight: Ints
    first: Ints
    newest: Ints
    base: Ints
    room: Ints
    size: Ints


class _Numbers(Combining):
    """The heads of all slices as numbers of one kind, as long as nothing unusual comes.

    Attributes:
        kind: of all heads so far; empty before the first one.
        plain: whether the arrays are still enough.
    """

    kinds: tuple[str, ...] = ("integer", "float")

    def __init__(self, name: str, texts: Texts, **options: bool) -> None:
        super().__init__(name, texts, **options)
        self.kind = ""
        self.plain = True
        self.slices = self._slices(outer=0, data=0, speaks=False)
        self.outers = self._outers(speaking=0)

    def _slices(self, **fills: complex) -> _Slices:
        return _Slices(0, **fills)

    def _outers(self, **fills: complex) -> _Outers:
        return _Outers(1, **fills)

    def begin(self, outer: Ints, keys: Column) -> None:
        """New slices, in the order of their numbers."""
        if not self.plain:
            super().begin(outer, keys)
            return
        start = len(self.slices)
        self.slices.grow(start + len(outer))
        self.outers.grow(int(outer.max(initial=0)) + 1)
        if outer.any():
            self.slices.outer[start:] = outer
        self._begun(start, outer)

    def _begun(self, start: int, outer: Ints) -> None:
        """Take in where the new slices stand among those of their outer slot."""

    def combine(self, outers: Ints, changes: Changes) -> Combined:
        """Take in the changes and say what all slices of each row's outer slot give."""
        if self.plain:
            self.outers.grow(int(outers.max(initial=0)) + 1)
            if not self._fits(changes):
                self._leave()
        if not self.plain:
            return super().combine(outers, changes)
        data = changes.values.data
        if data.dtype != self.slices.data.dtype:
            data = np.zeros(len(changes.row), self.slices.data.dtype)  # there is no head among them
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
            self.slices.retype("data", _FLOAT if kind == "float" else _INT)
        return True

    def _combined(
        self, outers: Ints, changes: Changes, data: npt.NDArray[Any]
    ) -> tuple[int, Combined]:
        """Combine on arrays; return the first row that this cannot do, and all before it."""
        raise NotImplementedError

    def _leave(self) -> None:
        """From now on the interpreter's aggregates do it."""
        self.plain = False
        outer = self.slices.outer
        super().begin(outer, missing(len(outer), "any", self.texts))
        heads = Column(self.kind or "integer", self.slices.data, None, self.texts).to_list()
        for slot in np.flatnonzero(self.slices.speaks).tolist():
            self._update(self._of(int(outer[slot])), slot, heads[slot], headed=True)

    def save(self) -> State:
        if not self.plain:
            return {"plain": False, **super().save()}
        return {"plain": True, "kind": self.kind, **self.slices.save(), **self.outers.save()}

    def load(self, outer: Ints, keys: Column, state: Mapping[str, Any]) -> None:
        self.plain = state["plain"]
        if not self.plain:
            super().load(outer, keys, state)
            return
        self.kind = state["kind"]
        if self.kind == "float":
            self.slices.retype("data", _FLOAT)
        self.slices.load(state)
        self.outers.load(state)


class Folds(_Numbers):
    """``add`` and ``product``: integers by what changed, floats folded again from there on.

    The sum of all magnitudes (of the product: the product of all that are not zero) stays far below
    an overflow, so that no partial result can have one either, in whatever order.
    """

    def __init__(self, name: str, texts: Texts, **options: bool) -> None:
        super().__init__(name, texts, **options)
        self.product = name == "product"

    def _slices(self, **fills: complex) -> _Slices:
        return _Slices(0, **fills, zero=False, after=0, prior=0, prefix=0.0)

    def _outers(self, **fills: complex) -> _Outers:
        return _Outers(1, **fills, total=0, weight=0, first=0, newest=0)

    def _begun(self, start: int, outer: Ints) -> None:
        slices = self.slices
        chain = (slices.after, slices.prior, self.outers.newest, slices.prefix)
        link_slices(start, outer, self.product, *chain)

    def _combined(
        self, outers: Ints, changes: Changes, data: npt.NDArray[Any]
    ) -> tuple[int, Combined]:
        count = len(outers)
        pick, speaking = np.empty((2, count), np.int64)
        slices, outer = self.slices, self.outers
        values = np.empty(count, slices.data.dtype)
        changed = (changes.row, changes.slot, changes.headed, data)
        heads = (slices.data, slices.speaks, slices.zero, slices.after)
        known = (*heads, outer.first, outer.speaking)
        said = (values, pick, speaking)
        if self.kind == "float":
            chain = (slices.prior, slices.prefix, outer.newest)
            stop = fold_floats(self.product, outers, *changed, *known, *chain, *said)
        else:
            totals = (outer.total, outer.weight)
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
    """

    kinds = ("integer", "float", "instant", "duration")

    def __init__(self, name: str, texts: Texts, **options: bool) -> None:
        super().__init__(name, texts, **options)
        self.tree: Ints = np.zeros(64, np.int64)
        self.planted = 0

    def _slices(self, **fills: complex) -> _Slices:
        return _Slices(0, **fills, leaf=0)

    def _outers(self, **fills: complex) -> _Outers:
        return _Outers(1, **fills, base=0, room=0, size=0)

    def _begun(self, start: int, outer: Ints) -> None:
        if not len(outer):
            return
        owners, back, counts = np.unique(outer, return_inverse=True, return_counts=True)
        # The n-th new slice of its outer slot has the n-th free leaf.
        order = np.argsort(back, kind="stable")
        begins = np.cumsum(counts) - counts
        nth = np.empty(len(outer), np.int64)
        nth[order] = np.arange(len(outer)) - np.repeat(begins, counts)
        outers, data = self.outers, self.slices.data
        self.slices.leaf[start:] = outers.size[outer] + nth
        outers.size[owners] += counts
        tight = owners[outers.size[owners] > outers.room[owners]]
        if not len(tight):
            return
        room = 2 ** np.ceil(np.log2(np.maximum(outers.size[tight], 4))).astype(np.int64)
        bases = self.planted + np.cumsum(2 * room) - 2 * room
        self.planted += int(2 * room.sum())
        self.tree = roomy(self.tree, self.planted)
        replant(tight, room, bases, outers.room, outers.base, self.tree, data, self._smallest)

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
        slices = self.slices
        values = np.zeros(count, slices.data.dtype)
        changed = (changes.row, changes.slot, changes.headed, data)
        trees = (slices.leaf, self.outers.base, self.outers.room, self.tree)
        known = (slices.data, slices.speaks, *trees)
        pick_best(self._smallest, outers, *changed, *known, values, pick)
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
        super().load(outer, keys, state)
        if self.plain:
            self.tree = state["tree"]
            self.planted = len(self.tree)
