"""A point of the closing: a claim that the rows make or do not make, never without its limit."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from experiments.figures import Row, select
from experiments.report.words import QUERIES

__all__ = ["Point", "each_query", "limited_by"]

Claim = Callable[[list[Row]], str]


class Point(NamedTuple):
    """Something to say of the rows, or an empty text, and what limits it."""

    claim: Claim
    limit: str


def limited_by(limit: str) -> Callable[[Claim], Point]:
    """Make a claim a point."""
    return lambda claim: Point(claim, limit)


def each_query(rows: list[Row], tell: Callable[[str, list[Row]], str | None]) -> str:
    """What to report of each query, in one line; empty if nothing."""
    told = (tell(query, select(rows, query=query)) for query in QUERIES)
    return ", ".join(text for text in told if text)
