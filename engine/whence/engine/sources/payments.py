"""A payment log to try things on: realistic in shape, generated from a seed, with planted faults.

Every case is registered, checked (perhaps corrected and checked again), approved, paid, archived.
Payments above the limit are followed by an audit. In a few cases something is left out.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from pathlib import Path
from random import Random

__all__ = ["LIMIT", "PaymentLog", "payment_log", "write_payment_log"]

LIMIT = 5_000
"""Payments above this amount must be audited next."""

COLUMNS: tuple[str, ...] = ("case", "activity", "time", "amount", "clerk")


@dataclass(frozen=True)
class PaymentLog:
    """The events, and what was planted among them.

    Attributes:
        events: in order of time.
        unapproved: cases that were paid without an approval.
        unaudited: cases with a large payment that no audit followed.
    """

    events: list[dict[str, object]]
    unapproved: tuple[str, ...]
    unaudited: tuple[str, ...]


def payment_log(events: int = 20_000, seed: int = 7) -> PaymentLog:
    """Generate a log of about so many events.

    >>> log = payment_log(events=600)
    >>> len(log.unapproved), len(log.unaudited), abs(len(log.events) - 600) < 60
    (2, 1, True)
    """
    random = Random(seed)
    cases = max(20, round(events / 5.6))
    planted = random.sample(range(cases // 4, cases), 3)
    unapproved, unaudited = planted[:2], planted[2:]
    start = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
    queue: list[tuple[datetime, int, int]] = []
    stories: list[list[tuple[str, float]]] = []
    for number in range(cases):
        large = number in unaudited or random.random() < 0.08
        amount = round(
            random.uniform(LIMIT + 100, 40_000) if large else random.uniform(20, 4_800), 2
        )
        stories.append(list(_story(random, amount, number in unapproved, number in unaudited)))
        begins = start + timedelta(minutes=4 * number + random.uniform(0, 90))
        heappush(queue, (begins, number, 0))
    written: list[dict[str, object]] = []
    while queue:
        at, number, step = heappop(queue)
        activity, amount = stories[number][step]
        written.append(
            {
                "case": f"P{number:05d}",
                "activity": activity,
                "time": at.isoformat(timespec="seconds").replace("+00:00", "Z"),
                "amount": amount,
                "clerk": f"clerk-{random.randrange(1, 15):02d}",
            }
        )
        if step + 1 < len(stories[number]):
            later = at + timedelta(minutes=random.expovariate(1 / 180) + 1)
            heappush(queue, (later, number, step + 1))
    return PaymentLog(
        written,
        tuple(f"P{number:05d}" for number in sorted(unapproved)),
        tuple(f"P{number:05d}" for number in sorted(unaudited)),
    )


def _story(
    random: Random, amount: float, unapproved: bool, unaudited: bool
) -> Iterator[tuple[str, float]]:
    yield "register", amount
    yield "check", amount
    while random.random() < 0.18:
        yield "correct", amount
        yield "check", amount
    if not unapproved:
        yield "approve", amount
    yield "pay", amount
    if amount > LIMIT and not unaudited:
        yield "audit", amount
    yield "archive", amount


def write_payment_log(path: Path, log: PaymentLog) -> None:
    """Write the log as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(log.events)
