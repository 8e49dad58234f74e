"""Keys get slots in the order in which they come, whatever their kinds and however they come."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from whence.engine.kernels.columns.column import from_values, guessed
from whence.engine.kernels.columns.number_table import NumberTable
from whence.engine.kernels.columns.texts import Texts
from whence.engine.kernels.slots import Slots
from whence.engine.values import key_of

KEYS: dict[str, list[Any]] = {
    "integers": [*range(-3, 9), 2**63 - 1, -(2**63)],
    "texts": ["a", "b", "", "1"],
    "floats": [1.0, 2.5, float("nan"), -0.0, 1e300],
    "mixed": [1, 1.0, True, "1", None, 2**70, "a", [1, "a"], [], [2.0]],
    "missing": [1, None, 3],
    "lost texts": ["a", None],
}


@pytest.mark.parametrize("moved", [False, True])
@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("seed", range(30))
def test_slots_are_numbered_by_appearance(seed: int, nested: bool, moved: bool) -> None:
    random = Random(seed)
    texts = Texts()
    slots = Slots(texts)
    known: dict[tuple[int, object], int] = {}
    for _ in range(12):
        values = random.choices(KEYS[random.choice(sorted(KEYS))], k=random.randrange(1, 9))
        owners = [random.randrange(3) if nested else 0 for _ in values]
        typed = random.random() < 0.7
        column = guessed(values, texts) if typed else from_values(values, "any", texts)
        sent = slots.send(np.array(owners) if nested else None, column)
        expected: list[tuple[int, int]] = []
        for row, (owner, value) in enumerate(zip(owners, values, strict=True)):
            several = value if isinstance(value, list) else [value]
            for name in dict.fromkeys(map(key_of, several)):
                expected.append((row, known.setdefault((owner, name), len(known))))
        assert list(zip(sent.rows.tolist(), sent.slot.tolist(), strict=True)) == expected
        assert len(slots) == len(known)
        assert slots.outer.tolist() == [owner for owner, _ in known]
        if moved:
            state = slots.save()
            slots = Slots(texts)
            slots.load(state)
    assert [key_of(key) for key in slots.keys().to_list()] == [name for _, name in known]


def test_many_numbers_have_a_slot_each() -> None:
    random = np.random.default_rng(3)
    keys = random.integers(-(2**62), 2**62, 30_000)
    owners = random.integers(0, 50, 30_000)
    table = NumberTable()
    found, firsts = table.number(owners, np.concatenate([keys[:29_000], keys[:1000]]), 0)
    pairs = zip(owners.tolist(), [*keys[:29_000].tolist(), *keys[:1000].tolist()], strict=True)
    assert len(firsts) == len(set(pairs))
    again, new = table.number(owners[:29_000], keys[:29_000], table.find(0, 1) + 10**9)
    assert not len(new)
    assert again.tolist() == found[:29_000].tolist()
