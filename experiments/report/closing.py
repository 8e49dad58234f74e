"""Other systems as cited, and what is better, what is worse, and what limits each."""

from __future__ import annotations

from collections.abc import Iterator

from experiments.figures import Row
from experiments.report import about_beyond, about_paper
from experiments.report.points import Point
from experiments.report.words import NOT_YET, cited, paragraph, told_table

__all__ = ["others", "verdict"]

BETTER: tuple[Point, ...] = (
    *(about_paper.costs_less, about_paper.memory, about_paper.disk),
    *(about_paper.time_grows_as_the_log, about_beyond.short_questions),
)
WORSE: tuple[Point, ...] = (
    *(about_paper.costs_more, about_paper.time_grows_otherwise, about_paper.new_cases),
    *(about_beyond.steps, about_beyond.spark, about_beyond.cluster, about_beyond.graph),
    *(about_beyond.long_questions, about_beyond.precision),
)


def others(rows: list[Row]) -> Iterator[str]:
    """Other systems: the cost of tracking as the paper quotes it."""
    yield "## Other systems"
    yield ""
    body = []
    for system in cited()["systems"]:
        but = f" ({system['but']})" if "but" in system else ""
        memory = system.get("memory", "")
        body.append([system["name"], f"{system['time']}{but}", memory, system["source"]])
    yield from told_table(
        "Cost of tracking as the paper quotes it; none of these was run by us.",
        ["system", "time", "memory", "described in"],
        body,
    )


def verdict(rows: list[Row]) -> Iterator[str]:
    """What is better, worse, and what limits each; only what follows from the rows."""
    yield "## What is better, what is worse, what limits"
    for title, points in (("Better", BETTER), ("Worse", WORSE)):
        yield ""
        yield f"### {title}"
        yield ""
        told = [f"- {text}. What limits it: {p.limit}." for p in points if (text := p.claim(rows))]
        for text in told:
            yield from paragraph(text, "  ")
        if not told:
            yield NOT_YET
