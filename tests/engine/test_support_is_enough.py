"""Change what a support leaves out, run again: the output is there with the same value.

And what is in no support and not open certainly never matters: nothing changes, nothing appears.
The number of corruptions is that of the issue: 3,000 by default, 100,000 in the full profile.
`WHENCE_TEST_SEED` begins with other cases.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from itertools import count, islice
from random import Random

import pytest

from tests.engine.corruption import Attack, Broken
from tests.engine.random_chains import random_case
from whence.engine.errors import WhenceError
from whence.engine.lineage.tracker import Witnesses

FULL = os.environ.get("WHENCE_TEST_PROFILE") == "full"
CORRUPTIONS = 35_000 if FULL else 1_500
FIRST_SEED = int(os.environ.get("WHENCE_TEST_SEED", "0"))
PER_CASE = 8
WITH_ALTERNATIVES = ("apply", "cumulate", "window", "slice", "filter")
"""Processors whose outputs often have several explanations; half of the cases, if all are kept."""


@dataclass
class Tally:
    """How an attack went."""

    cases: int = 0
    corruptions: int = 0
    failed_chains: int = 0
    checked: int = 0
    unaffected: int = 0
    recognised: int = 0
    by_another: int = 0
    tags: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        """One line to print."""
        share = self.recognised / max(self.unaffected, 1)
        return (
            f"{self.corruptions} corruptions of {self.cases} chains "
            f"({self.failed_chains} more failed on their own log), {self.checked} outputs "
            f"checked; {share:.1%} of {self.unaffected} unchanged outputs recognised, "
            f"{self.by_another} times by another alternative than the first"
        )


def attack_many(corruptions: int, witnesses: Witnesses, by_field: bool, seed: int) -> Tally:
    """Attack one random chain after the other until that many corruptions were tried."""
    tally = Tally()
    for number in count(seed):
        if tally.corruptions >= corruptions:
            return tally
        often = witnesses == "all" and number % 2
        case = random_case(number, WITH_ALTERNATIVES) if often else random_case(number)
        try:
            attack = Attack(case, Random(number), witnesses, by_field)
        except WhenceError:
            tally.failed_chains += 1
            continue
        tally.cases += 1
        tally.tags.update({processor.tag for _, processor in attack.chain.processors()})
        for cells in islice(attack.choices(), PER_CASE):
            outcome = attack.run_again(cells)
            if outcome is None:
                continue
            assert not isinstance(outcome, Broken), (
                f"seed {number}, {outcome}\n{case.tree}\n{case.logs}\n"
                f"closed={case.closed} given={case.given}"
            )
            tally.corruptions += 1
            for place, same in outcome.items():
                tally.checked += 1
                tally.unaffected += same
                stands = attack.guaranteed(place, cells)
                tally.recognised += same and stands
                tally.by_another += stands and not attack.supports[place].isdisjoint(cells)
    raise AssertionError


@pytest.mark.parametrize(
    ("witnesses", "by_field"),
    [("first", False), ("all", False), ("first", True)],
    ids=["whole events", "with all witnesses", "field by field"],
)
def test_what_no_support_holds_may_change(
    witnesses: Witnesses, by_field: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    seed = FIRST_SEED + 10_000_000 * by_field + 20_000_000 * (witnesses == "all")
    tally = attack_many(CORRUPTIONS, witnesses, by_field, seed)
    with capsys.disabled():
        print(f"\n{tally}")
    assert tally.corruptions >= CORRUPTIONS
    assert tally.failed_chains < tally.cases / 10
    # Other alternatives than the first one were relied upon, if and only if they were kept.
    assert (tally.by_another > CORRUPTIONS / 100) is (witnesses == "all")
    # Every kind of processor took part.
    assert len(tally.tags) == 17
