"""Kernels and interpreter agree: outputs, both relations with fields, ends, on random chains."""

from __future__ import annotations

import os

import pytest

from tests.engine.kernels.comparing import difference
from tests.engine.kernels.spoiling import spoiled
from tests.engine.random_chains import TAGS, random_case
from whence.engine.kernels.state import UnsavedError
from whence.engine.kernels.work import KernelWork

FULL = os.environ.get("WHENCE_TEST_PROFILE") == "full"
HUNDREDS = 180 if FULL else 4
NESTED = ("slice", "window", "apply", "moore", "ltl", "cumulate", "filter", "trim")


@pytest.mark.parametrize("hundred", range(HUNDREDS))
def test_random_chains_with_random_batches_say_the_same(hundred: int) -> None:
    for seed in range(hundred * 100, hundred * 100 + 100):
        told = difference(random_case(seed), steps=seed % 4 == 0)
        assert told is None, f"seed {seed}: {told}"


@pytest.mark.parametrize("fifty", range(40 if FULL else 2))
def test_nested_chains_say_the_same(fifty: int) -> None:
    for seed in range(fifty * 50, fifty * 50 + 50):
        told = difference(random_case(seed, NESTED))
        assert told is None, f"seed {seed}: {told}"


def test_a_total_that_rests_on_nothing_in_a_batch_of_two_says_the_same() -> None:
    assert difference(random_case(300_418, NESTED)) is None


def test_of_two_ends_that_lead_nowhere_the_same_is_leaned_on() -> None:
    assert difference(random_case(2359, NESTED)) is None


@pytest.mark.parametrize("fifty", range(100 if FULL else 4))
def test_what_does_not_fit_is_refused_in_the_same_words(fifty: int) -> None:
    """Message, processor and position; and where the interpreter goes on, so do the kernels."""
    for seed in range(fifty * 50, fifty * 50 + 50):
        told = difference(spoiled(random_case(seed)), moved=seed % 5 == 0)
        assert told is None, f"seed {seed}: {told}"


def test_the_spoiled_logs_are_often_refused() -> None:
    from whence.engine.errors import EventError
    from whence.engine.interpreter import interpret

    refused = 0
    for seed in range(200):
        case = spoiled(random_case(seed))
        try:
            interpret(case.chain(), case.logs, closed=case.closed)
        except EventError:
            refused += 1
    assert refused > 20


@pytest.mark.parametrize("seed", [201, 1501, 2394, 4159])
def test_a_guard_fails_only_where_the_machine_tries_it(seed: int) -> None:
    assert difference(spoiled(random_case(seed))) is None


@pytest.mark.parametrize("seed", [380, 737, 1183, 3705])
def test_a_fault_deep_inside_is_told_with_its_whole_position(seed: int) -> None:
    assert difference(spoiled(random_case(seed))) is None


def test_every_processor_has_a_kernel() -> None:
    """Whatever is drawn runs on columns; only users' own functions and processors do not."""
    met: set[str] = set()
    for seed in range(400):
        case = random_case(seed)
        try:
            KernelWork(case.chain(), closed=case.closed).save()
        except UnsavedError as error:  # the adapter is the one kernel that cannot be saved
            pytest.fail(f"seed {seed}: {error}")
        met |= {tag for tag in TAGS if f'"{tag}"' in str(case.tree).replace("'", '"')}
    assert met == set(TAGS)


def test_an_untracked_run_gives_the_same_values() -> None:
    from tests.engine.kernels.comparing import columns_of
    from whence.engine.values.columns import canonical

    for seed in range(60):
        case = random_case(seed)
        values = []
        for tracked in (True, False):
            work = KernelWork(case.chain(), closed=case.closed, tracked=tracked)
            work.feed({name: columns_of(log, work.run) for name, log in case.logs.items()})
            work.close()
            values.append(
                {
                    name: [
                        canonical(value)
                        for part in work.run.kept[name].parts
                        if part.values is not None
                        for value in part.values.to_list()
                    ]
                    for name in work.chain.outputs
                }
            )
        assert values[0] == values[1], f"seed {seed}"


def test_a_wrong_kernel_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison sees an explanation that lost an event."""
    from whence.engine.kernels.kernel import Kept
    from whence.engine.kernels.trails.trail import Nothing

    add = Kept.add

    def forgetful(self: Kept, moments, values, why, sup):  # type: ignore[no-untyped-def]
        return add(self, moments, values, Nothing(len(moments)), sup)

    monkeypatch.setattr(Kept, "add", forgetful)
    found = [difference(random_case(seed)) for seed in range(20)]
    assert any(told is not None and " why: " in told for told in found)
