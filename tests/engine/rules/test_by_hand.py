"""Rules worked out with a pencil: a deadline, another case's clock, the past, closing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from whence.engine.testing import findings


def log(*events: tuple[str, str, int]) -> list[dict[str, Any]]:
    return [{"case": case, "activity": name, "time": time} for case, name, time in events]


DEADLINE = {"when": "activity = 'pay'", "must": "F[..5s] activity = 'audit'"}
CASES: list[
    tuple[str, dict[str, Any], list[dict[str, Any]], dict[str, Any], list[tuple[Any, ...]]]
] = [
    (
        "met on its last second",
        DEADLINE,
        log(("A", "pay", 0), ("A", "audit", 5)),
        {},
        [
            (
                "A",
                "kept",
                1,
                "event",
                None,
                {(0, "activity"), (0, "time"), (1, "activity"), (1, "time")},
            )
        ],
    ),
    (
        "another case shows that it has passed",
        DEADLINE,
        log(("A", "pay", 0), ("B", "note", 6), ("A", "audit", 7)),
        {},
        [("A", "violated", 1, "clock", 5, {(0, "activity"), (0, "time"), (1, "time")})],
    ),
    (
        "grace lets an event come late",
        DEADLINE,
        log(("A", "pay", 0), ("B", "note", 6), ("A", "audit", 4)),
        {"grace": 2},
        [
            (
                "A",
                "kept",
                2,
                "event",
                None,
                {(0, "activity"), (0, "time"), (2, "activity"), (2, "time")},
            )
        ],
    ),
    (
        "as of a time",
        DEADLINE,
        log(("A", "pay", 0)),
        {"as_of": 6},
        [("A", "violated", "as-of", "as-of", 5, {(0, "activity"), (0, "time")})],
    ),
    (
        "closed before",
        DEADLINE,
        log(("A", "pay", 0)),
        {"closed": True},
        [("A", "violated", "end", "end", 0, {(0, "activity"), (0, "time")})],
    ),
    (
        "a case that ends opens anew",
        {"when": "activity = 'pay'", "must": "O activity = 'order'"},
        log(("A", "order", 0), ("A", "close", 1), ("A", "pay", 2)),
        {"closes": "activity = 'close'"},
        [("A#2", "violated", 2, "event", 2, {(2, "activity")})],
    ),
    (
        "of a whole case",
        {"case": "count(activity = 'pay') <= 1"},
        log(("A", "pay", 0), ("A", "pay", 3)),
        {},
        [("A", "violated", 1, "event", 3, {(0, "activity"), (1, "activity")})],
    ),
]


@pytest.mark.parametrize(("name", "rule", "events", "settings", "wanted"), CASES)
def test_worked_out_by_hand(
    name: str,
    rule: dict[str, Any],
    events: list[dict[str, Any]],
    settings: dict[str, Any],
    wanted: list[tuple[Any, ...]],
) -> None:
    found = findings(rule, events, **settings)
    got = [
        (x["case"], x["status"], x["decided"], x["by"], x["since"], set(map(tuple, x["explains"])))
        for x in found
    ]
    assert got == wanted, name


def test_pending_ones_know_when_they_are_due() -> None:
    (pending,) = findings(DEADLINE, log(("A", "pay", 3), ("B", "note", 8)))
    assert (pending["status"], pending["due"], pending["decided"]) == ("pending", 8, None)


def test_a_long_case_is_no_matter() -> None:
    events = log(*[("A", "pay" if n % 2 else "note", n) for n in range(2_000)])
    found = findings({"when": "activity = 'pay'", "must": "F activity = 'audit'"}, events)
    assert [each["status"] for each in found] == ["pending"] * 1_000


def test_another_runner_is_refused_in_one_line() -> None:
    with pytest.raises(ValueError, match="expected interpreter; got 'stream'"):
        findings(DEADLINE, [], runner="stream")


def test_a_rule_has_when_and_must_or_case() -> None:
    with pytest.raises(ValueError, match="expected `when` and `must`, or `case`; got must"):
        findings({"must": "true"}, [])


def test_instants_are_times_too() -> None:
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    days = [
        {"case": case, "activity": name, "time": begin + timedelta(days=day)}
        for case, name, day in [("A", "pay", 0), ("B", "note", 20)]
    ]
    (found,) = findings({**DEADLINE, "must": "F[..14d] activity = 'audit'"}, days)
    assert (found["status"], found["since"]) == ("violated", begin + timedelta(days=14))


def test_deep_formulas_run() -> None:
    deep = "not O " * 48 + "activity = 'pay'"
    (found,) = findings({"when": "activity = 'pay'", "must": deep}, log(("A", "pay", 0)))
    assert found["status"] == "kept"
