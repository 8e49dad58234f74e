"""From keys to slots: every distinct key of an outer slot has a number of its own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from whence.engine.kernels.columns import Column, Ints, from_values
from whence.engine.kernels.kernel import State
from whence.engine.values import Value, key_of

__all__ = ["Sliced", "Slots"]


class Sliced(NamedTuple):
    """Rows sent to slots.

    Attributes:
        rows: the row that each goes back to; a list key sends a row to several slots.
        slot: where each goes.
        first: for every slot that begins now, the place of its first row in ``rows``.
        keys: the keys of the slots that begin now.
        empty: the rows that went nowhere.
    """

    rows: Ints
    slot: Ints
    first: Ints
    keys: list[Value]
    empty: Ints


class Slots:
    """Numbers the keys of each outer slot, in the order in which they appear.

    Attributes:
        outer: for every slot the outer slot that it belongs to.
        count: how many there are.
    """

    def __init__(self) -> None:
        """Begin without slots."""
        self.outer: Ints = np.empty(0, np.int64)
        self.count = 0
        self._known: dict[tuple[int, object], int] = {}
        self._keys: list[Value] = []
        self._by_code: Ints = np.empty(0, np.int64)

    def send(self, outer: Ints | None, keys: Column) -> Sliced:
        """Send every row to the slot, or the slots, of its key."""
        count = len(keys)
        rows = np.arange(count)
        none = np.empty(0, np.int64)
        if keys.kind == "text" and outer is None and keys.valid is None:
            return self._by_text(keys, rows)
        if keys.kind == "any" or keys.kind == "record":
            values = keys.to_list()
            if any(isinstance(v, (list, tuple)) for v in values):
                return self._several(outer, values)
            codes, firsts, shown = _distinct(values)
        else:
            codes, firsts, shown = _typed(keys)
        pair = codes if outer is None else outer * (int(codes.max(initial=-1)) + 1) + codes
        if outer is not None:
            _, firsts, codes = np.unique(pair, return_index=True, return_inverse=True)
            shown = keys.take(firsts).to_list()
        outers = [0] * len(firsts) if outer is None else outer[firsts].tolist()
        table = np.empty(len(firsts), np.int64)
        new: list[tuple[int, int]] = []
        for number in np.argsort(firsts, kind="stable").tolist():
            name = (outers[number], key_of(shown[number]))
            found = self._known.get(name)
            if found is None:
                found = self._begin(name, shown[number])
                new.append((found, int(firsts[number])))
            table[number] = found
        first = np.array([row for _, row in new], np.int64)
        return Sliced(rows, table[codes], first, [self._keys[s] for s, _ in new], none)

    def _by_text(self, keys: Column, rows: Ints) -> Sliced:
        """Texts have numbers already: one look each, and nothing in Python for known ones."""
        if len(self._by_code) < len(keys.texts):
            more = np.full(2 * len(keys.texts), -1)
            more[: len(self._by_code)] = self._by_code
            self._by_code = more
        found = self._by_code[keys.data]
        unknown = np.flatnonzero(found < 0)
        firsts = np.empty(0, np.int64)
        if len(unknown):
            codes, places = np.unique(keys.data[unknown], return_index=True)
            order = np.argsort(places)
            firsts = unknown[places[order]]
            for code in codes[order].tolist():
                text = keys.texts.known[code]
                name = (0, key_of(text))
                known = self._known.get(name)
                self._by_code[code] = self._begin(name, text) if known is None else known
            slots = self._by_code[keys.data[firsts]]
            fresh = slots >= self.count - len(firsts)
            firsts = firsts[fresh]
            found = self._by_code[keys.data]
        shown = [keys.texts.known[code] for code in keys.data[firsts].tolist()]
        return Sliced(rows, found, firsts, list(shown), np.empty(0, np.int64))

    def _several(self, outer: Ints | None, values: list[Value]) -> Sliced:
        rows: list[int] = []
        slot: list[int] = []
        first: list[int] = []
        keys: list[Value] = []
        empty: list[int] = []
        outers = [0] * len(values) if outer is None else outer.tolist()
        for row, (owner, value) in enumerate(zip(outers, values, strict=True)):
            several = list(value) if isinstance(value, (list, tuple)) else [value]
            if not several:
                empty.append(row)
            named: dict[object, Value] = {}
            for one in several:
                named.setdefault(key_of(one), one)
            for name, shown in named.items():
                found = self._known.get((owner, name))
                if found is None:
                    found = self._begin((owner, name), shown)
                    first.append(len(rows))
                    keys.append(shown)
                rows.append(row)
                slot.append(found)
        arrays = [np.array(a, np.int64) for a in (rows, slot, first)]
        return Sliced(arrays[0], arrays[1], arrays[2], keys, np.array(empty, np.int64))

    def _begin(self, name: tuple[int, object], shown: Value) -> int:
        number = self._known[name] = self.count
        self.count += 1
        if len(self.outer) < self.count:
            more = np.zeros(max(64, 2 * self.count), np.int64)
            more[: len(self.outer)] = self.outer
            self.outer = more
        self.outer[number] = name[0]
        self._keys.append(shown)
        return number

    def save(self, texts: Column) -> State:
        """The keys in order, each with its outer slot."""
        keys = from_values(self._keys, "any", texts.texts)
        return {"keys": keys, "outer": self.outer[: self.count]}

    def load(self, state: State) -> None:
        """Number the keys again, in the same order."""
        self.__init__()  # type: ignore[misc]
        keys, outer = state["keys"], state["outer"]
        assert isinstance(keys, Column)
        assert isinstance(outer, np.ndarray)
        for owner, key in zip(outer.tolist(), keys.to_list(), strict=True):
            self._begin((owner, key_of(key)), key)


def _distinct(values: list[Value]) -> tuple[Ints, Ints, list[Value]]:
    """Number Python values; return the numbers, where each is first met, and the values."""
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
    return codes, np.array(firsts, np.int64), [values[row] for row in firsts]


def _typed(keys: Column) -> tuple[Ints, Ints, list[Value]]:
    """The same for a typed column, without Python for every row."""
    data = keys.data
    if keys.kind == "float":
        data = np.where(np.isnan(data), np.nan, data + 0.0)
    _, firsts, codes = np.unique(data, return_index=True, return_inverse=True)
    if keys.valid is not None and not keys.valid.all():
        # Missing is a key of its own: the last number.
        codes = np.where(keys.valid, codes, len(firsts))
        _, firsts, codes = np.unique(codes, return_index=True, return_inverse=True)
    return codes, firsts, keys.take(firsts).to_list()
