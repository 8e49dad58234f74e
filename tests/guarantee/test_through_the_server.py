"""The guarantee as a user gets it: what ``impact`` calls unaffected, asked of the real server."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from tests.engine.random_chains import random_case, refusals_skipped
from tests.engine.sources._support.real_logs import real_log
from tests.guarantee.attacking import Attacked, random_choices
from tests.guarantee.promises import Place
from tests.guarantee.real_cases import real_cases
from whence.engine.lineage.positions import of_positions, positions
from whence.store import Connection
from whence.store.loading import load
from whence.store.questions import Impact, impact

pytestmark = pytest.mark.neo4j

FULL = os.environ.get("WHENCE_TEST_PROFILE") == "full"


class ServerPromise:
    """What a loaded run promises."""

    def __init__(self, graph: Connection, run: str) -> None:
        self.graph = graph
        self.run = run

    def _impact(self, corrupt: set[Place]) -> Impact:
        ranges = {
            log: of_positions(position for name, position in corrupt if name == log)
            for log in {name for name, _ in corrupt}
        }
        return impact(self.graph, self.run, ranges)

    def unaffected(self, corrupt: set[Place]) -> set[Place]:
        shares = self._impact(corrupt).unaffected
        return {(share.output, at) for share in shares for at in positions(share.ranges)}

    def may_appear(self, corrupt: set[Place]) -> set[str]:
        return set(self._impact(corrupt).may_appear)


@pytest.mark.parametrize("seed", range(30_000_000, 30_000_200 if FULL else 30_000_006))
def test_no_output_that_impact_calls_unaffected_changes(
    graph: Connection, tmp_path: Path, seed: int
) -> None:
    with refusals_skipped():
        attacked = Attacked(tmp_path, random_case(seed), Random(seed))
    load(tmp_path, attacked.record.id, graph)
    attacked.promise = ServerPromise(graph, attacked.record.id)
    choices = list(random_choices(attacked, 4))
    assert not attacked.attack(str(seed), choices, 3).broken
    for cells in choices:
        corrupt = {(log, at) for log, at, _ in cells}
        assert attacked.promise.unaffected(corrupt) == attacked.recorded.unaffected(corrupt)
        assert attacked.promise.may_appear(corrupt) == attacked.recorded.may_appear(corrupt)


def test_the_same_of_a_life_cycle_over_a_real_log(graph: Connection, tmp_path: Path) -> None:
    real_log("sepsis.csv")
    *_, lifecycle = real_cases("sepsis.csv", 300, 3)
    attacked = Attacked(tmp_path, lifecycle.case, Random(1))
    load(tmp_path, attacked.record.id, graph)
    attacked.promise = ServerPromise(graph, attacked.record.id)
    score = attacked.attack(lifecycle.name, lifecycle.choices, 6)
    assert not score.broken
    assert score.worth >= lifecycle.least, str(score)
