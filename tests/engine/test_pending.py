"""Verdicts that wait inside a Slice are counted by slice, on every runner."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import Cli
from tests.engine.kernels.comparing import columns_of, cuts, elsewhere
from tests.engine.random_chains import random_case
from whence.api import run
from whence.engine import ApplyFunction, Chain, Slice
from whence.engine.errors import WhenceError
from whence.engine.formula import formula
from whence.engine.interpreter import interpret
from whence.engine.kernels.state import UnsavedError
from whence.engine.kernels.work import KernelWork
from whence.engine.runners import RunOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from whence.api import Runner

RUNNERS = ["interpreter", "local", pytest.param("spark", marks=pytest.mark.spark)]
PAID = formula("G (a = 'send' -> F a = 'pay')", id="rule")
EVENTS = ("A send", "B pay", "A pay", "C send", "B send")
LOG = [dict(zip(("case", "a"), event.split(), strict=True)) for event in EVENTS]


def _paid(**how: str) -> Chain:
    return Chain.of(Slice("paid", by="case", of=PAID, combine="and", **how))


def _soon() -> Chain:
    rule = formula("a = 'send' -> X a = 'pay'", id="rule")
    return Chain.of(Slice("soon", by="case", of=rule, combine="and", take="first"))


@pytest.mark.parametrize("runner", RUNNERS)
def test_a_run_says_in_how_many_slices_verdicts_wait(
    runner: Runner, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    session: SparkSession | None = request.getfixturevalue("spark") if runner == "spark" else None

    def pending(chain: Chain, partitions: int | None, **options: Any) -> Any:
        result = run(
            chain,
            LOG,
            runner=runner,
            record=tmp_path,
            session=session,
            partitions=partitions if runner == "spark" else None,
            options=RunOptions(**options),
        )
        return result.record.manifest.pending

    for partitions in (None, 2) if runner == "spark" else (None,):
        # F waits where no payment has come yet, and G at every event of which F is known.
        assert pending(_paid(), partitions) == {"paid": {"slices": 3, "of": 3, "verdicts": 5}}
        assert pending(_paid(take="first"), partitions) == {
            "paid": {"slices": 3, "of": 3, "verdicts": 5}
        }
        # Of A and B the first verdict is known, of C it is not.
        assert pending(_soon(), partitions) == {"soon": {"slices": 1, "of": 3, "verdicts": 1}}
        assert pending(_paid(), partitions, closed=True) == {}
        plain = Chain.of(Slice("n", by="case", of=ApplyFunction("a", "a"), combine="count"))
        assert pending(plain, partitions) == {}


def test_interpreter_and_kernels_count_the_same_on_random_chains() -> None:
    compared = 0
    for seed in range(700_000, 700_600):
        case = random_case(seed, ("slice", "ltl", "apply", "group"))
        chain = case.chain()
        try:
            expected = interpret(chain, case.logs, closed=case.closed).interpreter.pending()
        except WhenceError:
            continue
        work = KernelWork(chain, closed=case.closed)
        whole = {name: columns_of(events, work.run) for name, events in case.logs.items()}
        try:
            for number, cut in enumerate(cuts(case.logs, Random(seed))):
                if seed % 3 == 0 and number == 1:
                    work = elsewhere(work, steps=False)
                    whole = {n: columns_of(events, work.run) for n, events in case.logs.items()}
                work.feed({name: whole[name].slice(*cut[name]) for name in case.logs})
            work.close()
        except (WhenceError, UnsavedError):
            continue
        assert work.kernels.pending() == expected, seed
        compared += any(isinstance(one, dict) for one in expected.values())
    assert compared > 50


def test_the_end_of_a_run_says_how_many_cases_are_not_decided(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("case,a\nA,send\nB,pay\nA,pay\nC,send\n")
    (tmp_path / "chain.yaml").write_text(
        "id: soon\nslice:\n  by: case\n  combine: and\n  take: first\n"
        "  of: {id: rule, formula: \"a = 'send' -> X a = 'pay'\"}\n"
    )
    for runner in ("interpreter", "local"):
        done = cli("run", "chain.yaml", "--log", "log.csv", "--runner", runner)
        assert done.returncode == 0, done.stderr
        told = " ".join((done.stdout + done.stderr).split())
        assert "soon: 2 of 3 slices are not decided yet (--closed decides them)" in told
        closed = cli("run", "chain.yaml", "--log", "log.csv", "--runner", runner, "--closed")
        assert "not decided" not in closed.stdout + closed.stderr
