"""A rule in a chain: kernels give what the interpreter gives, wherever the log is cut."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from tests.engine.kernels.comparing import difference
from tests.engine.random_chains import Case
from tests.engine.rules.random_rules import drawn
from whence.engine import Chain, Each, Group, Log, Slice, Trim, interpret
from whence.engine.chain_file import with_log
from whence.engine.errors import ParameterError
from whence.engine.processor import Processor
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


TIMED = Each("audited", when="pay", must="F[..5s] audit", time="t")
UNTIMED = Each("checked", when="pay", must="O check")


def longer(rule: Each) -> Chain:
    """A rule, and something behind it."""
    return Chain.graph(["log"], [(rule, ["log"]), (Trim("skip", 1), [rule.id])])


@pytest.mark.parametrize(
    "held",
    [
        pytest.param(lambda p: Slice("s", by="case", of=p, combine="and"), id="a slice for all"),
        pytest.param(
            lambda p: Slice("s", "case", longer(p), "each"),
            id="longer",
        ),
        pytest.param(lambda p: Slice("s", "case", Group("g", Chain.of(p)), "each"), id="group"),
        pytest.param(
            lambda p: Slice("s", "case", Slice("in", "case", p, "each"), "each"), id="nested"
        ),
    ],
)
def test_a_deadline_is_refused_where_it_would_not_see_the_clock_of_the_whole_log(
    held: Callable[[Each], Processor],
) -> None:
    held(UNTIMED)
    with pytest.raises(
        ParameterError, match=r"time bounds .*got 'audited'; try a Slice with combine"
    ):
        held(TIMED)


def test_a_deadline_alone_in_each_slice_sees_the_clock_of_the_whole_log() -> None:
    log = [
        {"case": "A", "pay": True, "t": 0},
        {"case": "B", "pay": False, "t": 9},
    ]
    one = Chain.of(Slice("s", by="case", of=TIMED, combine="each"))
    assert interpret(one, log).values == [{"key": "A", "value": False}]
    assert interpret(Chain.of(Group("g", Chain.of(TIMED))), log).values == [False]
