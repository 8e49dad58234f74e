"""Rules under 100,000 corruptions: verdicts change by what they lean on alone."""

from __future__ import annotations

import os
from random import Random

import pytest

from tests.engine.rules.attacking import Score, attack
from tests.engine.rules.random_rules import Drawn, drawn

FULL = os.environ.get("WHENCE_TEST_PROFILE") == "full"
WANTED = 100_000 if FULL else 500

ORDINARY = [
    {"when": "activity = 'a'", "must": "F[..9s] activity = 'b'"},
    {"when": "activity = 'a'", "must": "F activity = 'b'"},
    {"when": "activity = 'b'", "must": "O (activity = 'a' and resource != trigger.resource)"},
    {"when": "activity = 'b'", "must": "O[..9s] activity = 'a'"},
    {"when": "activity = 'a'", "must": "(not activity = 'c') U activity = 'b'"},
    {"when": "activity = 'a'", "must": "X activity = 'b'"},
    {"when": "activity = 'c'", "must": "sum[..9s](amount) <= 9"},
    {"case": "count(activity = 'c') <= 2"},
]


def test_no_corruption_changes_a_verdict_that_does_not_lean_on_it() -> None:
    total, random = Score(), Random(29)
    while total.corruptions < WANTED:
        total += attack(drawn(random), random, 40)
    print(
        f"\n{total.corruptions:,} corruptions, {total.verdicts:,} verdicts left alone: none changed"
    )
    assert total.verdicts > total.corruptions / 2


def a_log(random: Random) -> list[dict[str, object]]:
    time, log = 0, []
    for _ in range(40):
        time += random.choice((0, 1, 1, 2, 3))
        log.append(
            {
                "case": random.choice("PQRSTU"),
                "activity": random.choice("abcd"),
                "amount": random.randrange(6),
                "resource": random.choice("xyz"),
                "time": time,
            }
        )
    return log


@pytest.mark.skipif(not FULL, reason="make guarantee")
def test_the_innocent_are_recognised_in_99_of_100() -> None:
    total, random = Score(), Random(30)
    for rule in ORDINARY:
        for _ in range(2):
            total += attack(Drawn(rule, {}, a_log(random), {"closed": True}), random, 3_000)
    share = total.recognised / total.truly
    print(f"\nrules: {share:.2%} of {total.truly:,} truly unaffected pairs recognised")
    assert share >= 0.99
