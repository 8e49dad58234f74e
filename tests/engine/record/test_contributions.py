"""How many outputs each input explains: counted at once, as counted output by output."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.engine.examples import EXAMPLES
from tests.engine.random_chains import Case, random_case, refusals_skipped
from whence.engine import ApplyFunction
from whence.engine.associations import Association
from whence.engine.chain import Chain
from whence.engine.explanation import flatten
from whence.engine.interpreter import interpret
from whence.engine.record import ingest
from whence.engine.record.contributions import contributions, counted
from whence.engine.runners import RunOptions, run_recorded
from whence.engine.runners.local_kernels import run_kernels
from whence.engine.tracker import MemoryTracker


def check(root: Path, chain: Chain, logs: Case | dict[str, list[object]], closed: bool) -> None:
    events = logs.logs if isinstance(logs, Case) else logs
    result = interpret(chain, events, tracker=MemoryTracker(), closed=closed)
    kept = {name: ingest(root, name, events[name]) for name in chain.inputs}
    first = {log.id: name for name, log in reversed(kept.items())}
    wanted = Counter(
        place
        for output in result.outputs
        for place in {(first[kept[log].id], at) for log, at in flatten(output.event)}
    )
    for detail in ("ends", "steps"):
        options = RunOptions(closed=closed, chunk=3, detail=detail)
        for runner in (run_recorded, run_kernels):
            found = contributions(runner(root, chain, kept, options))
            told = {
                (name, at): number
                for name, numbers in found.items()
                for at, number in enumerate(numbers.tolist())
                if number
            }
            assert told == dict(wanted), (detail, runner.__name__)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_every_processor(tmp_path: Path, example: object) -> None:
    check(tmp_path, example.chain, example.logs, example.closed)  # type: ignore[attr-defined]


def test_many_slices_are_counted_by_their_zones() -> None:
    """Two thousand heads contain each output: one by one that would be 40 million steps."""
    many, cases = 20_000, 2_000
    rows = [Association("p", "explains", "band", 0, many - 1, "p/heads", sa=1, sb=1)]
    for at in range(many):
        last = min(at + cases, many) - 1
        rows.append(Association("p/heads", "explains", "zone", at, last, "p/in", (at,)))
        rows.append(Association("p/in", "explains", "list", at, at, "log:log", (at,)))
        if at >= cases:
            rows.append(Association("p/in", "explains", "list", at, at, "p/in", (at - cases,)))
    found = counted(rows, {"log": many}, {"p": many})["log"]
    assert found.tolist() == list(range(many, 0, -1))


def test_events_that_explain_one_output_each_are_not_searched_one_by_one() -> None:
    """Each event inside explains an output elsewhere: together that would be 2.5 billion steps."""
    many, unit = 50_000, 1 << 24
    rows = []
    for at in range(many):
        rows.append(Association("p", "explains", "list", at, at, "p/in", (at * unit,)))
        place = at * unit
        rows.append(Association("p/in", "explains", "list", place, place, "log:log", (at,)))
    found = counted(rows, {"log": many}, {"p": many})["log"]
    assert found.tolist() == [1] * many


def test_a_log_under_two_names_counts_once(tmp_path: Path) -> None:
    chain = Chain.graph(["p", "q"], [(ApplyFunction("both", "$0 + $1"), ["p", "q"])])
    check(tmp_path, chain, {"p": [1, 2], "q": [1, 2]}, False)


@pytest.mark.parametrize("seed", range(12))
def test_random_chains(tmp_path: Path, seed: int) -> None:
    case = random_case(seed + 7_000)
    with refusals_skipped():
        check(tmp_path, case.chain(), case, case.closed)
