"""The guarantee: what is called unaffected stays as it is, whatever is corrupted; and its worth.

``make guarantee`` tries 100,000 corruptions and more and prints a line for every chain; `make test`
tries 2,000. Values come from the log, from the chain's own constants and guards, or at random.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest

from tests.engine.random_chains import random_case
from tests.engine.sources._support.real_logs import LOGS
from tests.guarantee.attacking import Attacked, Score, random_choices
from tests.guarantee.real_cases import REAL, RealCase, real_cases
from whence.engine.errors import WhenceError
from whence.engine.lineage.association import Association
from whence.engine.record import RunRecord

FULL = os.environ.get("WHENCE_TEST_PROFILE") == "full"
FIRST_SEED = int(os.environ.get("WHENCE_TEST_SEED", "0")) + 50_000_000
CHAINS = 1_000 if FULL else 100
CHOICES = 36 if FULL else 6
WAYS = 3
EVENTS = 1_500 if FULL else 300
REAL_LOGS = tuple(REAL) if FULL else ("sepsis.csv", "ccc19.csv")
REAL_CHOICES = 25 if FULL else 8
REAL_WAYS = 12


def attack_random(root: Path, seed: int) -> Score | None:
    """Attack one random chain; ``None`` if it refuses its own log."""
    with TemporaryDirectory(dir=root) as place:
        try:
            attacked = Attacked(Path(place), random_case(seed), Random(seed))
        except WhenceError:
            return None
        return attacked.attack(f"chain {seed}", random_choices(attacked, CHOICES), WAYS)


def attack_real(root: Path, name: str) -> list[tuple[RealCase, Score]]:
    """Attack every chain over one real log."""
    found = []
    for real in real_cases(name, EVENTS, REAL_CHOICES):
        with TemporaryDirectory(dir=root) as place:
            attacked = Attacked(Path(place), real.case, Random(name))
            found.append((real, attacked.attack(real.name, real.choices, REAL_WAYS)))
    return found


@contextmanager
def many_processes() -> Iterator[Callable[..., Iterable[object]]]:
    """A ``map`` over all cores in the full profile; the other tests use them else."""
    if not FULL:
        yield map
        return
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        yield pool.map


def test_no_unaffected_output_of_a_random_chain_changes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seeds = range(FIRST_SEED, FIRST_SEED + CHAINS)
    with many_processes() as each:
        scores = [s for s in each(partial(attack_random, tmp_path), seeds) if isinstance(s, Score)]
    report(scores, capsys)
    assert not [told for score in scores for told in score.broken][:3]
    assert len(scores) > 0.9 * CHAINS
    assert sum(score.corruptions for score in scores) >= CHAINS * CHOICES * WAYS * 0.85


@pytest.mark.skipif(not LOGS.exists(), reason="needs the real logs in ../shared/logs")
def test_no_unaffected_output_over_a_real_log_changes_and_most_are_called_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found: list[tuple[RealCase, Score]] = []
    with many_processes() as each:
        for some in each(partial(attack_real, tmp_path), REAL_LOGS):
            assert isinstance(some, list)
            found += some
    report([score for _, score in found], capsys)
    assert not [told for _, score in found for told in score.broken][:3]
    for real, score in found:
        assert score.corruptions, real.name
        assert score.truly > score.corruptions / REAL_WAYS, real.name
        assert score.worth >= real.least, str(score)


def test_an_attack_finds_a_promise_that_is_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = RunRecord.rows

    def forgetting(self: RunRecord) -> Iterator[Association]:
        return (row for row in rows(self) if row.relation != "supports")

    monkeypatch.setattr(RunRecord, "rows", forgetting)
    seeds = range(FIRST_SEED, FIRST_SEED + 40)
    scores = [attack_random(tmp_path, seed) for seed in seeds]
    assert any(score is not None and score.broken for score in scores)


def report(scores: list[Score], capsys: pytest.CaptureFixture[str]) -> None:
    """Print every chain in the full profile, and the sum in any case."""
    whole = Score(
        f"{len(scores)} chains",
        sum(score.corruptions for score in scores),
        sum(score.outputs for score in scores),
        sum(score.promised for score in scores),
        sum(score.truly for score in scores),
        sum(score.recognised for score in scores),
    )
    with capsys.disabled():
        print()
        for score in [*scores, whole] if FULL else [whole]:
            print(score)
