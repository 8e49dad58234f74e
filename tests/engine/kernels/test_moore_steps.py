"""A state machine's steps in rounds are those of the loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from whence.engine.kernels.moore_steps import step_by_step, step_in_rounds

SLOTS, EVENTS, STATES, GUARDS = 9, 60, 5, 3


def _drawn(seed: int, *, tracked: bool, fails: bool) -> list[Any]:
    """Random arguments: a table of guards and targets, and two batches of events."""
    random = np.random.default_rng(seed)
    guard_of = np.full((STATES, GUARDS + 1), -1, np.int32)
    target_of = np.full((STATES, GUARDS + 1), -1, np.int32)
    for state in range(STATES):
        tries = int(random.integers(0, GUARDS + 1))
        guard_of[state, :tries] = random.permutation(GUARDS)[:tries]
        target_of[state, :tries] = random.integers(0, STATES, tries)
        if not fails or random.random() < 0.5:
            target_of[state, tries] = random.integers(0, STATES)
    slot = random.integers(0, SLOTS, EVENTS)
    holds = random.random((GUARDS, EVENTS)) < 0.4
    elements = np.arange(EVENTS if tracked else 0) * 3 + seed
    trap = random.random(STATES) < 0.2
    kept = [np.zeros(SLOTS, np.int32), np.zeros((SLOTS, STATES), np.int16)]
    kept.append(np.zeros((SLOTS, STATES), np.int64))
    size = EVENTS if tracked else 0
    made = [np.full(EVENTS, -9, np.int32), np.full(size, -9, np.int32)]
    made += [np.full(size, -9, np.int64), np.full(size, -9, np.int64)]
    met = np.zeros(guard_of.size, np.bool_)
    return [slot, holds, elements, guard_of, target_of, trap, *kept, *made, met]


@pytest.mark.parametrize("tracked", [False, True])
def test_rounds_are_the_loop(tracked: bool) -> None:
    for seed in range(60):
        one, other = (_drawn(seed, tracked=tracked, fails=False) for _ in range(2))
        assert step_by_step(*one) == step_in_rounds(*other)
        for number, (a, b) in enumerate(zip(one, other, strict=True)):
            assert np.array_equal(a, b), (seed, number)


def test_the_first_event_without_a_way_on_is_the_same() -> None:
    failed = 0
    for seed in range(60):
        one, other = (_drawn(seed, tracked=True, fails=True) for _ in range(2))
        row, _ = step_by_step(*one)
        assert step_in_rounds(*other)[0] == row
        if row >= 0:
            failed += 1
            assert one[9][row] == other[9][row]
    assert failed > 10
