"""A rule in a chain: kernels give what the interpreter gives, wherever the log is cut."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from tests.engine.kernels.comparing import difference
from tests.engine.random_chains import Case
from tests.engine.rules.random_rules import drawn
from whence.engine import Chain, Each, Log, Slice
from whence.engine.chain_file import with_log
from whence.engine.testing import findings, run


def chain_of(rule: dict[str, Any], settings: dict[str, Any]) -> Chain:
    """A rule as drawn, as a chain."""
    grace = f"{settings['grace']}s" if "grace" in settings else None
    about: str = rule["case"] if "case" in rule else rule["must"]
    each = Each("rule", must=about, when=rule.get("when"), grace=grace)
    cases = Slice("cases", "case", each, "each", closes_when=settings.get("closes"))
    return with_log(Chain.of(cases), "log", Log(time="time"))


@pytest.mark.parametrize("seed", range(25))
def test_a_chain_gives_the_verdicts_of_the_findings(seed: int) -> None:
    made = drawn(Random(seed))
    settings = {name: x for name, x in made.settings.items() if name != "as_of"}
    chain = chain_of(made.rule, settings)
    log = [{"amount": None, "resource": None, **event} for event in made.log]
    found = [
        ({"key": x["case"], "value": x["status"] == "kept"}, {p for p, _ in x["explains"]})
        for x in findings(made.rule, log, **settings)
        if x["status"] != "pending"
    ]
    assert run(chain, log, closed=settings.get("closed", False)) == found


@pytest.mark.parametrize("seed", range(8))
def test_kernels_give_the_same(seed: int) -> None:
    made = drawn(Random(seed))
    chain = chain_of(made.rule, {k: v for k, v in made.settings.items() if k != "as_of"})
    log = [{"amount": None, "resource": None, **event} for event in made.log]
    case = Case(seed, chain.tree(), {"log": log}, made.settings.get("closed", False))
    assert difference(case) is None
