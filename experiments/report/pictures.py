"""The pictures of the page, each only if there is something to draw."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from experiments.figures import Row, divided, lengths, middle, rate, select
from experiments.plots import COLORS, OTHERS, Line, lines
from experiments.report.graph import QUESTIONS
from experiments.report.words import QUERIES

__all__ = ["drawn"]

LEAST_MB = 0.1
"""Less memory than this is drawn as this: on a logarithmic axis nothing has no place."""


def drawn(rows: list[Row]) -> dict[str, str]:
    """The pictures by file name."""
    made = {
        "throughput.svg": ([*_tracked(rows, rate)], "events of the log", "events/s"),
        "memory.svg": ([*_tracked(rows, _megabytes)], "events of the log", "MB above the start"),
        "questions.svg": ([*_questions(rows)], "edges of the run", "ms"),
    }
    pictures = {name: lines(found, x, y) for name, (found, x, y) in made.items() if found}
    if shares := [*_sizes(rows)]:
        told = ("% of the outputs", "explained by at most so many events")
        pictures["sizes.svg"] = lines(shares, *told, scale="linear")
    return pictures


def _megabytes(rows: list[Row]) -> float | None:
    found = divided(middle(rows, "peak_bytes"), 1e6)
    return None if found is None else max(found, LEAST_MB)


def _tracked(rows: list[Row], value: Callable[[list[Row]], float | None]) -> Iterator[Line]:
    chosen = select(rows, experiment="throughput")
    for query in QUERIES:
        for word, said in (("off", ""), ("ends", ", tracked")):
            own = select(chosen, query=query, tracking=word)
            points = [(n, value(select(own, length=n))) for n in lengths(own)]
            there = [(float(n), each) for n, each in points if each is not None]
            if there:
                yield Line(f"{query}{said}", COLORS[query], word == "off", there)


def _questions(rows: list[Row]) -> Iterator[Line]:
    chosen = select(rows, experiment="questions")
    for number, name in enumerate(QUESTIONS):
        points = [(n, middle(select(chosen, length=n), f"{name}_ms")) for n in lengths(chosen)]
        there = [(float(n), each) for n, each in points if each]
        if there:
            color = OTHERS[number % len(OTHERS)]
            yield Line(name.replace("_", "-"), color, number >= len(OTHERS), there)


def _sizes(rows: list[Row]) -> Iterator[Line]:
    chosen = select(rows, experiment="sizes")
    for query in sorted({row["query"] for row in chosen}):
        own = select(chosen, query=query)
        last = select(own, length=lengths(own)[-1])
        points = [(each, middle(last, f"explained_by_p{each}")) for each in range(101)]
        # An output that nothing explains has no place on a logarithmic axis.
        there = [(float(each), found) for each, found in points if found]
        if there:
            yield Line(query, COLORS[query], False, there)
