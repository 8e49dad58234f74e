"""A table by slot says what plain lists say, however it grows, moves and begins anew."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from whence.engine.kernels.columns.column import Bools, Ints
from whence.engine.kernels.columns.slot_table import SlotTable


class _Table(SlotTable):
    seen: Ints
    last: Ints
    said: Bools
    wide: Ints


def _table(least: int) -> _Table:
    return _Table(least, seen=0, last=-1, said=False, wide=(0, 7))


def _fresh(count: int) -> list[list[Any]]:
    return [[0, -1, False, [0, 7]] for _ in range(count)]


def _rows(table: _Table) -> list[list[Any]]:
    arrays = (table.seen, table.last, table.said, table.wide)
    return [list(row) for row in zip(*(array.tolist() for array in arrays), strict=True)]


@pytest.mark.parametrize("seed", range(200))
def test_a_table_is_what_lists_are(seed: int) -> None:
    random = Random(seed)
    least = random.choice((0, 1))
    table, plain = _table(least), _fresh(least)
    for _ in range(60):
        step = random.random()
        if step < 0.3:
            count = random.choice((0, len(plain) + 1, random.randrange(200)))
            table.grow(count)
            plain += _fresh(count - len(plain))
        elif step < 0.9 and plain:
            slot, value = random.randrange(len(plain)), random.randrange(100)
            table.seen[slot] += value
            table.last[slot], table.said[slot], table.wide[slot, 1] = value, True, value
            plain[slot] = [plain[slot][0] + value, value, True, [0, value]]
        elif step < 0.97:
            state = {name: array.copy() for name, array in table.save().items()}
            table = _table(least)
            table.load(state)
        else:
            table.forget()
            plain = _fresh(least)
        assert len(table) == len(plain)
        assert _rows(table) == plain


def test_arrays_that_were_saved_with_room_to_spare_are_taken_up() -> None:
    """As states were written before: some with room, and some that were never needed without."""
    table = _Table(0, seen=0, last=-1)
    table.load({"seen": np.array([3, 4, 0, 0]), "last": np.empty(0, np.int64)})
    table.grow(6)
    assert table.seen.tolist() == [3, 4, 0, 0, 0, 0]
    assert table.last.tolist() == [-1] * 6


def test_an_array_may_hold_another_kind_from_some_time_on() -> None:
    table = _Table(2, seen=0, last=-1)
    table.seen[1] = 3
    table.retype("seen", np.float64)
    table.seen[0] = 0.5
    table.grow(3)
    assert table.save()["seen"].tolist() == [0.5, 3.0, 0.0]
