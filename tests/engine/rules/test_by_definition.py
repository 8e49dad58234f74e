"""Event by event the same comes out as over the whole run at once, on rules drawn at random."""

from __future__ import annotations

import os
from random import Random

import pytest

from tests.engine.rules.by_definition import by_definition
from tests.engine.rules.random_rules import drawn
from whence.engine.testing import findings

SEEDS = 40 if os.environ.get("WHENCE_TEST_PROFILE") != "full" else 1000
EACH = 25


@pytest.mark.parametrize("seed", range(SEEDS))
def test_both_ways_agree(seed: int) -> None:
    random = Random(seed)
    for _ in range(EACH):
        made = drawn(random)
        got = {
            (each["case"], each["trigger"]): (
                each["status"],
                each["decided"],
                {(position, field) for position, field in each["explains"]},
            )
            for each in findings(made.rule, made.log, **made.settings)
        }
        wanted = {
            (each["case"], each["trigger"]): (each["status"], each["decided"], each["explains"])
            for each in by_definition(made)
        }
        assert got == wanted, (made.rule, made.log, made.settings)
