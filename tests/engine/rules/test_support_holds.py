"""Whatever lies outside its support is changed: a verdict stays, decided there or before."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from tests.engine.rules import attacking
from tests.engine.rules.attacking import attack
from tests.engine.rules.random_rules import Drawn, drawn
from whence.engine.testing import findings


@pytest.mark.parametrize("seed", range(20))
def test_what_is_outside_the_support_cannot_change_a_verdict(seed: int) -> None:
    random = Random(seed)
    for _ in range(5):
        attack(drawn(random), random, 12)


def test_the_attack_has_teeth(monkeypatch: pytest.MonkeyPatch) -> None:
    """A support without the clock event is found out."""
    made = Drawn(
        {"when": "activity = 'a'", "must": "F[..5s] activity = 'b'"},
        {},
        [
            {"case": "P", "activity": "a", "time": 0},
            {"case": "Q", "activity": "c", "time": 3},
            {"case": "Q", "activity": "c", "time": 9},
        ],
    )
    attack(made, Random(1), 200)

    def forgetful(*args: Any, **options: Any) -> object:
        found = findings(*args, **options)
        for each in found:
            each["supports"] = [x for x in each["supports"] if x != [2, "time"]]
        return found

    monkeypatch.setattr(attacking, "findings", forgetful)
    with pytest.raises(AssertionError, match="changed"):
        attack(made, Random(1), 200)
