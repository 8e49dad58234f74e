"""Every rule, by hand: what keeps it is valid, what breaks it is told so by number."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.exporters.validating._support.documents_by_rule import CASES, judged
from whence.exporters.validating import BEYOND, RULES

KEEP = [(rule, number) for rule, (keep, _) in CASES.items() for number in range(len(keep))]
BREAK = [(rule, number) for rule, (_, broken) in CASES.items() for number in range(len(broken))]
CLOCK_ALONE = {"C30", "C31", "C32", "C35", "C36", "C38", "C40", "C44", "C46", "C47", "C49"}
"""Nothing follows an end or an invalidation, so by the standard alone these are never broken."""


def test_every_rule_has_a_case_that_keeps_it_and_one_that_breaks_it() -> None:
    assert set(CASES) == set(RULES)
    assert all(keep and broken for keep, broken in CASES.values())
    assert [f"C{number}" for number in range(22, 57)] == [r for r in RULES if r not in BEYOND]


@pytest.mark.parametrize(("rule", "number"), KEEP)
def test_what_keeps_a_rule_is_valid(rule: str, number: int, tmp_path: Path) -> None:
    report = judged(tmp_path, CASES[rule][0][number])
    assert report.violations == ()
    assert report.valid
    assert report.standard


@pytest.mark.parametrize(("rule", "number"), BREAK)
def test_what_breaks_a_rule_is_told_by_its_number_and_its_statements(
    rule: str, number: int, tmp_path: Path
) -> None:
    report = judged(tmp_path, CASES[rule][1][number])
    assert not report.valid
    (found,) = report.violations[:1]
    assert rule in (found.rule, *found.also)
    assert found.statements
    assert all("(ex:" in each or "(-" in each for each in found.statements)
    assert report.standard == all(not each.standard for each in report.violations)


@pytest.mark.parametrize("rule", sorted(set(BEYOND) - {"syntax"} | CLOCK_ALONE))
def test_what_goes_beyond_the_standard_can_be_left_out(rule: str, tmp_path: Path) -> None:
    for body in CASES[rule][1]:
        assert judged(tmp_path, body).standard
        report = judged(tmp_path, body, beyond=False)
        assert report.valid
        assert report.counts == {}


@pytest.mark.parametrize("rule", ["C42", "C45", "C48", "C34"])
def test_a_cycle_breaks_the_standard_and_the_clock_is_not_asked(rule: str, tmp_path: Path) -> None:
    body = CASES[rule][1][-1] if rule != "C42" else CASES[rule][1][0]
    report = judged(tmp_path, body, beyond=False)
    assert not report.standard
    assert {each.rule for each in report.violations} == {"C42"}


def test_bundles_are_checked_each_on_its_own(tmp_path: Path) -> None:
    apart = "bundle ex:b1 entity(ex:x) endBundle bundle ex:b2 activity(ex:x) endBundle"
    assert judged(tmp_path, apart).valid
    inside = "bundle ex:b1 entity(ex:x) activity(ex:x) endBundle"
    (found,) = judged(tmp_path, inside).violations
    assert found.bundle == "http://example.org/b1"


def test_simultaneous_events_are_no_cycle(tmp_path: Path) -> None:
    declared = "activity(ex:a) entity(ex:e) wasGeneratedBy(ex:g; ex:e, ex:a, -)"
    assert judged(tmp_path, declared + " wasStartedBy(ex:a, ex:e, -, -)").valid


def test_times_on_simultaneous_events_are_compared_with_all_of_them(tmp_path: Path) -> None:
    # The start precedes the generation of its own trigger, so both are at the same time.
    body = (
        "activity(ex:a) entity(ex:e) wasStartedBy(ex:a, ex:e, -, 2026-03-01T12:00:00Z)"
        " wasGeneratedBy(ex:g; ex:e, ex:a, 2026-03-01T10:00:00Z)"
    )
    (found,) = judged(tmp_path, body).violations
    assert (found.rule, found.also) == ("clock", ("C34",))
    assert len(found.statements) == 2


def test_many_violations_are_counted_and_a_few_are_shown(tmp_path: Path) -> None:
    body = "\n".join(f"entity(ex:x{n}) activity(ex:x{n})" for n in range(100))
    report = judged(tmp_path, body)
    assert report.counts == {"C55": 100}
    assert len(report.violations) == 20


def test_a_long_cycle_is_shown_in_part(tmp_path: Path) -> None:
    body = "\n".join(f"entity(ex:e{n}) wasDerivedFrom(ex:e{n}, ex:e{n - 1})" for n in range(1, 500))
    (found,) = judged(tmp_path, body + " entity(ex:e0) wasDerivedFrom(ex:e0, ex:e499)").violations
    assert found.statements[-1] == "… and 488 more"
    assert "and 495 more" in found.message
