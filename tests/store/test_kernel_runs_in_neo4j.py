"""Runs by kernels in the graph: every answer equals that of the interpreter's tracker."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from tests.engine.random_chains import random_case, refusals_skipped
from tests.store._support.runs_in_neo4j import Logs, keep
from whence.engine.language.chain import Chain
from whence.engine.record import RunRecord, ingest
from whence.engine.runners import RunOptions
from whence.engine.runners.local_kernels import run_kernels
from whence.store import Connection

pytestmark = pytest.mark.neo4j

FULL = os.environ.get("WHENCE_TEST_PROFILE") == "full"
SEEDS = range(400, 600) if FULL else range(400, 406)


def by_kernels(root: Path, chain: Chain, logs: Logs, options: RunOptions) -> RunRecord:
    kept = {name: ingest(root, name, logs[name], chunk=options.chunk) for name in chain.inputs}
    return run_kernels(root, chain, kept, options, batch=7)


@pytest.mark.parametrize("detail", ["ends", "steps"])
@pytest.mark.parametrize("seed", SEEDS)
def test_every_answer_equals_the_trackers(
    graph: Connection, tmp_path: Path, seed: int, detail: str
) -> None:
    case = random_case(seed, ("slice", "moore", "cumulate", "filter") if seed % 2 else ())
    options = RunOptions(
        detail=detail,  # type: ignore[arg-type]
        closed=case.closed,
        chunk=3 if seed % 3 else 100,
    )
    with refusals_skipped():
        kept = keep(graph, tmp_path, case.chain(), case.logs, options, by_kernels)
    kept.check_explain()
    kept.check_never_matters()
    everything = [(log, at) for log in kept.logs for at in range(len(kept.logs[log]))]
    random = Random(seed)
    for many in (1, 2):
        kept.check_impact(set(random.sample(everything, min(many, len(everything)))))
