"""From keys to slots: every distinct key of an outer slot has a number of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from whence.engine.kernels.columns.column import Column, Ints, concat, from_values
from whence.engine.kernels.columns.growing import roomy
from whence.engine.kernels.columns.lazy_ints import rows_from, zeros
from whence.engine.kernels.columns.number_table import NumberTable
from whence.engine.kernels.columns.slot_table import SlotTable
from whence.engine.kernels.columns.texts import Texts
from whence.engine.values import INT64_MAX, INT64_MIN, Value, key_of
from whence.engine.values.jit import jit

__all__ = ["Sliced", "Slots"]


class Sliced(NamedTuple):
    """Rows sent to slots.

    Attributes:
        rows: the row that each goes back to; a list key sends a row to several slots.
        slot: where each goes.
        first: for every slot that begins now, the place of its first row in ``rows``.
        keys: the keys of the slots that begin now, in order.
        empty: the rows that went nowhere.
        one_each: whether every row goes to one slot, so that ``rows`` just counts them.
    """

    rows: Ints
    slot: Ints
    first: Ints
    keys: Column
    empty: Ints
    one_each: bool = True


class Slots(SlotTable):
    """Numbers the keys of each outer slot, in the order in which they appear.

    Attributes:
        outer: for every slot the outer slot that it belongs to.
        nested: whether there are several outer slots.
    """

    outer: Ints

    def __init__(self, texts: Texts) -> None:
        super().__init__(0, outer=0)
        self.texts = texts
        self.nested = False
        self._known: dict[tuple[int, object], int] = {}
        self._keys: list[Column] = []
        self._by_code: Ints = np.empty(0, np.int64)
        self._tables = {"integer": NumberTable(), "text": NumberTable()}

    def send(self, outer: Ints | None, keys: Column) -> Sliced:
        """Send every row to the slot, or the slots, of its key."""
        self.nested = outer is not None
        if keys.valid is None and keys.kind in self._tables:
            return self._by_number(outer, keys)
        if keys.kind in ("any", "record"):
            values = keys.to_list()
            if any(isinstance(v, (list, tuple)) for v in values):
                return self._several(outer, values)
            codes, firsts = _distinct(values)
        else:
            codes, firsts = _typed(keys)
        if outer is not None:
            pair = outer * (int(codes.max(initial=-1)) + 1) + codes
            _, firsts, codes = np.unique(pair, return_index=True, return_inverse=True)
        shown = keys.take(firsts).to_list()
        outers = [0] * len(firsts) if outer is None else outer[firsts].tolist()
        table = np.empty(len(firsts), np.int64)
        new: list[int] = []
        for number in np.argsort(firsts, kind="stable").tolist():
            name = (outers[number], key_of(shown[number]))
            found = self._find(name)
            if found < 0:
                found = self._known[name] = len(self) + len(new)
                new.append(number)
            table[number] = found
        first = firsts[new]
        self._begin([outers[number] for number in new], keys.take(first))
        rows = rows_from(0, len(keys))
        return Sliced(rows, table[codes], first, self._keys[-1], np.empty(0, np.int64))

    def _find(self, name: tuple[int, object]) -> int:
        """The slot of a key; -1 if it is new."""
        owner, key = name
        if isinstance(key, float) and key.is_integer():
            key = int(key)
        found = -1
        if type(key) is int and INT64_MIN <= key <= INT64_MAX:
            found = self._tables["integer"].find(owner, key)
        elif isinstance(key, tuple) and key[0] == "text":
            code = self.texts.code(key[1])
            found = self._tables["text"].find(owner, code)
            if owner == 0 and code < len(self._by_code):
                found = max(found, int(self._by_code[code]) - 1)
        return found if found >= 0 else self._known.get(name, -1)

    def _by_number(self, outer: Ints | None, keys: Column) -> Sliced:
        """Integers, and texts, which have numbers already: one look each, nothing in Python."""
        if keys.kind == "text" and outer is None:
            found, firsts = self._by_text(keys)
        else:
            table = self._tables[keys.kind]
            if self._known:
                rows = table.missing(outer, keys.data)
                for owner, name, row in self._met(outer, keys, rows):
                    table.put(owner, int(keys.data[row]), self._known[owner, name])
            found, firsts = table.number(outer, keys.data, len(self))
        self._begin(zeros(len(firsts)) if outer is None else outer[firsts], keys.take(firsts))
        rows = rows_from(0, len(keys))
        return Sliced(rows, found, firsts, self._keys[-1], np.empty(0, np.int64))

    def _by_text(self, keys: Column) -> tuple[Ints, Ints]:
        """Their numbers are few enough for an array of them."""
        self._by_code = roomy(self._by_code, len(self.texts))
        if self._known:
            rows = np.flatnonzero(self._by_code[keys.data] == 0)
            for owner, name, row in self._met(None, keys, rows):
                self._by_code[keys.data[row]] = self._known[owner, name] + 1
        found, firsts = np.empty((2, len(keys)), np.int64)
        new = _number(keys.data, self._by_code, len(self), found, firsts)
        return found, firsts[:new].copy()

    def _met(
        self, outer: Ints | None, keys: Column, rows: Ints
    ) -> Iterator[tuple[int, object, int]]:
        """Which of these keys have come before, among keys of several kinds."""
        data = keys.data[rows]
        if outer is None:
            _, places = np.unique(data, return_index=True)
        else:
            order = np.lexsort((data, outer[rows]))
            again = (np.diff(data[order]) == 0) & (np.diff(outer[rows][order]) == 0)
            places = order[np.concatenate((np.ones(len(order[:1]), np.bool_), ~again))]
        rows = rows[places]
        owners = [0] * len(rows) if outer is None else outer[rows].tolist()
        shown = keys.take(rows).to_list()
        for owner, value, row in zip(owners, shown, rows.tolist(), strict=True):
            name = key_of(value)
            if (owner, name) in self._known:
                yield owner, name, row

    def _several(self, outer: Ints | None, values: list[Value]) -> Sliced:
        """Keys that are lists send a row to several slots, once each."""
        rows: list[int] = []
        slot: list[int] = []
        first: list[int] = []
        empty: list[int] = []
        new: list[tuple[int, Value]] = []
        outers = [0] * len(values) if outer is None else outer.tolist()
        for row, (owner, value) in enumerate(zip(outers, values, strict=True)):
            several = list(value) if isinstance(value, (list, tuple)) else [value]
            if not several:
                empty.append(row)
            distinct: dict[object, Value] = {}
            for one in several:
                distinct.setdefault(key_of(one), one)
            for name, shown in distinct.items():
                named = (owner, name)
                found = self._find(named)
                if found < 0:
                    found = self._known[named] = len(self) + len(new)
                    first.append(len(rows))
                    new.append((owner, shown))
                rows.append(row)
                slot.append(found)
        keys = from_values([key for _, key in new], "any", self.texts)
        self._begin([owner for owner, _ in new], keys)
        arrays = [np.array(a, np.int64) for a in (rows, slot, first, empty)]
        one_each = len(rows) == len(values) and not empty
        return Sliced(arrays[0], arrays[1], arrays[2], keys, arrays[3], one_each)

    def _begin(self, outers: Sequence[int] | Ints, keys: Column) -> None:
        start = len(self)
        self.grow(start + len(outers))
        if np.any(outers):
            self.outer[start:] = outers
        self._keys.append(keys)

    def keys(self) -> Column:
        """The keys of all slots, in order."""
        if not self._keys:
            return from_values([], "any", self.texts)
        self._keys = [concat(self._keys)]
        return self._keys[0]

    def save(self) -> dict[str, Any]:
        """The keys in order, each with its outer slot."""
        return {"keys": self.keys(), **super().save(), "nested": self.nested}

    def load(self, state: Mapping[str, Any]) -> None:
        """Number the keys again, in the same order."""
        keys, outer = state["keys"], state["outer"]
        self.__init__(self.texts)  # type: ignore[misc]
        self.nested = state["nested"]
        if keys.valid is None and keys.kind in self._tables:
            self._by_number(outer if state["nested"] else None, keys)
            return
        names = zip(outer.tolist(), map(key_of, keys.to_list()), strict=True)
        self._known = {name: slot for slot, name in enumerate(names)}
        self._begin(outer.tolist(), keys)


@jit
def _number(codes: Ints, by_code: Ints, count: int, found: Ints, firsts: Ints) -> int:
    """Look every code up; number the new ones, and note where each is first met.

    In ``by_code`` slots are counted from 1: 0 says that a code has none yet.
    """
    new = 0
    for row in range(len(codes)):
        code = codes[row]
        if by_code[code] == 0:
            firsts[new] = row
            new += 1
            by_code[code] = count + new
        found[row] = by_code[code] - 1
    return new


def _distinct(values: list[Value]) -> tuple[Ints, Ints]:
    """Number Python values; return the numbers, and where each is first met."""
    known: dict[object, int] = {}
    firsts: list[int] = []
    codes = np.empty(len(values), np.int64)
    for row, value in enumerate(values):
        name = key_of(value)
        found = known.get(name)
        if found is None:
            found = known[name] = len(firsts)
            firsts.append(row)
        codes[row] = found
    return codes, np.array(firsts, np.int64)


def _typed(keys: Column) -> tuple[Ints, Ints]:
    """The same for a typed column, without Python for every row."""
    data = keys.data
    if keys.kind == "float":
        data = np.where(np.isnan(data), np.nan, data + 0.0)
    _, firsts, codes = np.unique(data, return_index=True, return_inverse=True)
    if keys.valid is not None and not keys.valid.all():
        # Missing is a key of its own: the last number.
        codes = np.where(keys.valid, codes, len(firsts))
        _, firsts, codes = np.unique(codes, return_index=True, return_inverse=True)
    return codes, firsts
