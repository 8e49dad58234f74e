"""What all outputs lead to, on arrays, is what each of them leads to by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.lineage.slow_index import AssociationIndex
from tests.engine.record._support.random_runs import random_run
from tests.exporters._support.recorded_runs import RUNS
from whence.engine import Chain, Slice
from whence.engine.formula import formula
from whence.engine.lineage.links import STEPS, Links
from whence.engine.lineage.positions import Intervals, Positions, positions, union
from whence.engine.record import RunRecord, ingest
from whence.engine.record.reaching import Reaching
from whence.engine.runners.local_kernels import run_kernels


def check(run: RunRecord) -> None:
    index, follow = AssociationIndex(run.rows()), Reaching(run)
    several = (
        (follow.explaining(), "output", False),
        (follow.supporting(), "output", True),
        (follow.open(), "end", True),
    )
    for found, role, support in several:
        wanted: dict[str, Intervals] = {}
        for stream in run.manifest.streams:
            if stream.role == role:
                for position in range(1 if role == "end" else stream.length):
                    reached = index.up(stream.name, position, support=support)
                    for log, places in reached.items():
                        wanted[log] = union(wanted.get(log, ()), places)
        assert found == wanted, (role, support)


@pytest.mark.parametrize("kernels", [False, True])
@pytest.mark.parametrize("name", RUNS)
def test_of_known_runs(name: str, kernels: bool, tmp_path: Path) -> None:
    check(RUNS[name](tmp_path, kernels=kernels))


@pytest.mark.parametrize("seed", range(16))
def test_of_random_chains(seed: int, tmp_path: Path) -> None:
    check(random_run(seed, tmp_path))


def test_a_stream_that_builds_on_itself_is_followed_in_one_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain = Chain.of(Slice("each", by="case", of=formula("G (x >= 0 -> X x > 0)"), combine="and"))
    log = ingest(tmp_path, "log", [{"case": 1, "x": n % 7} for n in range(600)])
    run = run_kernels(tmp_path, chain, {"log": log})
    steps: list[int] = []
    reached = Links.reached

    def counted(links: Links, new: Positions) -> Positions:
        steps.append(1)
        return reached(links, new)

    monkeypatch.setattr(Links, "reached", counted)
    (found,) = Reaching(run).explained_by({"log": ((5, 5),)})["each"].intervals
    assert STEPS < len(steps) < 4 * STEPS  # not one for each of the events
    index = AssociationIndex(run.rows())
    explained = [at for at in range(600) if (5 in positions(index.up("each", at)["log"]))]
    assert found == (explained[0], explained[-1])
    assert explained == list(range(found[0], found[1] + 1))
