"""How many outputs each input explains: counted at once, as counted output by output."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from tests.engine.examples import EXAMPLES
from tests.engine.random_chains import Case, random_case, refusals_skipped
from whence.engine import ApplyFunction
from whence.engine.interpreter import interpret
from whence.engine.language.chain import Chain
from whence.engine.lineage.association import Association
from whence.engine.lineage.contributions import counted
from whence.engine.lineage.terms import flatten
from whence.engine.lineage.tracker import MemoryTracker
from whence.engine.record import ingest
from whence.engine.record.contributions import contributions
from whence.engine.runners import RunOptions, run_recorded
from whence.engine.runners.local_kernels import run_kernels


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


def test_bands_that_reach_back_to_the_beginning_are_counted_at_once() -> None:
    """Each of 20,000 outputs leans on all inputs before it: one by one, 200 million steps."""
    many = 20_000
    rows = [
        Association("p", "explains", "band", 0, many - 1, "log:log", a=0, b=0, sa=0, sb=1),
        Association("p", "explains", "list", 0, 0, "p/in", (0,)),
    ]
    found = counted(rows, {"log": many}, {"p": many})["log"]
    assert found.tolist() == list(range(many, 0, -1))


@pytest.mark.parametrize("seed", range(300))
def test_any_band_is_counted_as_output_by_output(seed: int) -> None:
    chance = Random(seed)
    outputs, inputs = chance.randint(1, 12), chance.randint(1, 30)
    rows = [Association("p", "explains", "list", 0, 0, "p/in", (0,))]
    for _ in range(chance.randint(1, 3)):
        lo = chance.randrange(outputs)
        hi = chance.choice([None, chance.randrange(lo, outputs)])
        steps = sorted(chance.randrange(4) for _ in range(2))
        ends = sorted(chance.randint(-9, 9) for _ in range(2))
        if chance.random() < 0.1:
            ends.reverse()
        to = chance.choice(["log:log", "p/in"])
        (sa, sb), (a, b) = steps, ends
        rows.append(Association("p", "explains", "band", lo, hi, to, a=a, b=b, sa=sa, sb=sb))
    rows.append(Association("p/in", "explains", "band", 0, 40, "log:log", a=0, b=3, sa=1, sb=1))
    wanted: Counter[int] = Counter()
    for output in range(outputs):
        inner: set[int] = set()
        reached: set[int] = set()
        for row in rows[:-1]:
            for first, last in row.reaches(output, output):
                (reached if row.to == "log:log" else inner).update(range(first, last + 1))
        for at in inner:
            for first, last in rows[-1].reaches(at, at):
                reached.update(range(first, last + 1))
        wanted.update(at for at in reached if 0 <= at < inputs)
    found = counted(rows, {"log": inputs}, {"p": outputs})["log"]
    assert dict(enumerate(found.tolist())) == {at: wanted[at] for at in range(inputs)}
