"""Logs with a few values that do not fit, so that chains fail somewhere, or nearly do."""

from __future__ import annotations

from random import Random

from tests.engine.random_chains import Case

__all__ = ["spoiled"]

WRONG = ("x", True, 2**62, 2**63 - 1, -(2**63), 1e308, float("nan"), [1], None, 3, "")


def spoiled(case: Case) -> Case:
    """The case with one to three values of its logs replaced."""
    random = Random(case.seed * 7 + 1)
    for _ in range(random.choice((1, 1, 2, 3))):
        log = case.logs[random.choice(list(case.logs))]
        at = random.randrange(len(log))
        wrong = random.choice(WRONG)
        event = log[at]
        if isinstance(event, dict):
            log[at] = {**event, random.choice(list(event) or ["a"]): wrong}
        else:
            log[at] = wrong
    return case
