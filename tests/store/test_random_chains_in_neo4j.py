"""Random nested chains: every answer from Neo4j equals the tracker's in memory."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from tests.engine.random_chains import random_case, refusals_skipped
from tests.store._support.chains_that_choose import choosing_case
from tests.store._support.runs_in_neo4j import Kept, keep
from whence.engine.runners import RunOptions
from whence.store import Connection

pytestmark = pytest.mark.neo4j

FULL = os.environ.get("WHENCE_TEST_PROFILE") == "full"
SEEDS = range(200) if FULL else range(14)


@pytest.mark.parametrize("detail", ["ends", "steps"])
@pytest.mark.parametrize("seed", SEEDS)
def test_every_answer_equals_the_trackers(
    graph: Connection, tmp_path: Path, seed: int, detail: str
) -> None:
    case = random_case(seed)
    # Small parts in half of the cases: what leads from part to part is tried as well.
    options = RunOptions(detail=detail, closed=case.closed, chunk=3 if seed % 2 else 100)  # type: ignore[arg-type]
    with refusals_skipped():
        kept = keep(graph, tmp_path, case.chain(), case.logs, options)
    kept.check_explain()
    kept.check_never_matters()
    _corrupt(kept, Random(seed))


@pytest.mark.parametrize("detail", ["ends", "steps"])
@pytest.mark.parametrize("number", range(60 if FULL else 9))
def test_every_answer_over_alternatives_equals_the_trackers(
    graph: Connection, tmp_path: Path, number: int, detail: str
) -> None:
    case, needless = choosing_case(number)
    options = RunOptions(
        detail=detail,  # type: ignore[arg-type]
        witnesses="all",
        closed=case.closed,
        chunk=3 if number % 2 else 100,
    )
    kept = keep(graph, tmp_path, case.chain(), case.logs, options)
    kept.check_explain()
    kept.check_never_matters()
    random = Random(number)
    _corrupt(kept, random)
    # Where the first alternative alone would say "possibly affected", and another one does not.
    kept.check_impact({random.choice(needless)})
    kept.check_impact(set(needless[:2]))


def _corrupt(kept: Kept, random: Random) -> None:
    everything = [(log, at) for log in kept.logs for at in range(len(kept.logs[log]))]
    for many in (1, 2):
        corrupt = set(random.sample(everything, min(many, len(everything))))
        kept.check_impact(corrupt)
    kept.check_columns(corrupt)
