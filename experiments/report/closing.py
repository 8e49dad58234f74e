"""Other systems as cited, and what is better, what is worse, and what limits each."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from experiments.figures import Row, divided, fit, lengths, middle, rate, select
from experiments.report.graph import QUESTIONS
from experiments.report.paper import slowdown
from experiments.report.words import (
    NOT_YET,
    QUERIES,
    cited,
    number,
    paragraph,
    share,
    table,
    times,
)

__all__ = ["others", "verdict"]

LOOKS_AT_ALL = 0.5
"""From this exponent on a question is said to grow with the graph."""

Point = Callable[[list[Row]], Iterator[str]]


def others(rows: list[Row]) -> Iterator[str]:
    """Other systems: the cost of tracking as the paper quotes it."""
    yield "## Other systems"
    yield ""
    yield "Cost of tracking as the paper quotes it; none of these was run by us."
    yield ""
    body = [[s["name"], s["time"], s.get("memory", ""), s["source"]] for s in cited()["systems"]]
    yield from table(["system", "time", "memory", "described in"], body)


def verdict(rows: list[Row]) -> Iterator[str]:
    """What is better, worse, and what limits each; only what the rows can tell."""
    yield "## What is better, what is worse, what limits"
    for title, points in (("Better", _BETTER), ("Worse", _WORSE)):
        yield ""
        yield f"### {title}"
        yield ""
        told = [text for point in points for text in point(rows)]
        for text in told:
            yield from paragraph(f"- {text}", "  ")
        if not told:
            yield NOT_YET


def _slowdowns(rows: list[Row]) -> Iterator[tuple[str, float, float]]:
    """Each query with our slowdown at the longest log and the paper's."""
    chosen = select(rows, experiment="throughput")
    for query in QUERIES:
        own = slowdown(chosen, query)
        off, on = cited()["paper"]["events_per_second"][query]
        if own is not None:
            yield query, own, off / on


def _costs_less(rows: list[Row]) -> Iterator[str]:
    told = [(q, own, theirs) for q, own, theirs in _slowdowns(rows) if own < theirs]
    if told:
        each = ", ".join(f"{q} {times(own)} instead of {times(theirs)}" for q, own, theirs in told)
        yield (
            f"Tracking costs less than in the paper: {each}. What limits it: both sides read and "
            "write the same Parquet, so that the faster the query itself is, the more the "
            "associations weigh."
        )


def _costs_more(rows: list[Row]) -> Iterator[str]:
    told = [(q, own, theirs) for q, own, theirs in _slowdowns(rows) if own >= theirs]
    if told:
        each = ", ".join(f"{q} {times(own)} instead of {times(theirs)}" for q, own, theirs in told)
        yield (
            f"Tracking costs as much as in the paper or more: {each}. What limits it: an output of "
            "a Slice has its own reasons, which no rule covers, so that something is written for "
            "every event."
        )


def _memory(rows: list[Row]) -> Iterator[str]:
    chosen = select(rows, experiment="throughput", tracking="ends")
    longest = (lengths(chosen) or [0])[-1]
    told = []
    for query in QUERIES:
        own = middle(select(chosen, query=query, length=longest), "peak_bytes")
        theirs = cited()["paper"]["bytes_per_event"][query] * longest
        if own is not None and own < theirs:
            told.append(f"{query} {number(own / 1e6)} MB instead of {number(theirs / 1e6)} MB")
    if told:
        yield (
            f"Memory for {longest:,} events is less than the paper's bytes an event would come "
            f"to: {', '.join(told)}. What limits it: a Slice forgets no case, so that memory "
            "follows the cases that ever were."
        )


def _record(rows: list[Row]) -> Iterator[str]:
    chosen = select(rows, experiment="throughput", tracking="ends")
    longest = (lengths(chosen) or [0])[-1]
    disk = {
        q: middle(select(chosen, query=q, length=longest), "association_bytes") for q in QUERIES
    }
    there = {q: found for q, found in disk.items() if found}
    if there:
        each = ", ".join(f"{q} {number(found / longest)}" for q, found in there.items())
        yield (
            f"What is kept for good is small: bytes an event on disk are {each}. What limits it: "
            "reasons that differ from output to output are numbers that hardly pack."
        )


def _graph(rows: list[Row]) -> Iterator[str]:
    chosen, local = select(rows, experiment="load"), select(rows, experiment="throughput")
    length = (lengths(chosen) or [0])[-1]
    told = []
    for query in QUERIES:
        loaded = rate(select(chosen, query=query, length=length))
        ran = rate(select(local, query=query, tracking="ends", length=length))
        ratio = divided(ran, loaded)
        if ratio is not None and ratio > 1:
            told.append(f"{query} {number(loaded)} events/s, {number(ratio)} times fewer")
    if told:
        yield (
            f"The graph is slower than the run that fills it ({length:,} events): "
            f"{', '.join(told)}. What limits it: a node for every event, and every part is safe on "
            "the server's disk before it counts."
        )


def _spark(rows: list[Row]) -> Iterator[str]:
    chosen = [row for row in rows if row["experiment"] in ("spark", "cluster")]
    local = select(rows, experiment="throughput")
    for master in sorted({row["master"] for row in chosen}):
        length = lengths(select(chosen, master=master))[-1]
        told = []
        for query in QUERIES:
            wanted = {"query": query, "tracking": "ends", "length": length}
            ratio = divided(
                rate(select(local, **wanted)), rate(select(chosen, master=master, **wanted))
            )
            if ratio is not None and ratio > 1:
                told.append(f"{query} {times(ratio)}")
        if told:
            yield (
                f"Spark (`{master}`) takes longer than one process for {length:,} events: "
                f"{', '.join(told)}. What limits it: jobs, workers and shuffles have a price that "
                "a log of this size does not earn back."
            )


def _questions(rows: list[Row]) -> Iterator[str]:
    chosen = select(rows, experiment="questions")
    fits = {name: fit(chosen, f"{name}_ms") for name in QUESTIONS}
    grow = [n for n, found in fits.items() if found and found.exponent >= LOOKS_AT_ALL]
    if grow:
        yield (
            f"These questions take longer the larger the graph is: {', '.join(grow)}. What limits "
            "them: they ask about all inputs or all outputs, and read all that lies between."
        )


def _quick_questions(rows: list[Row]) -> Iterator[str]:
    chosen = select(rows, experiment="questions")
    fits = {name: fit(chosen, f"{name}_ms") for name in QUESTIONS}
    stay = [n for n, found in fits.items() if found and found.exponent < LOOKS_AT_ALL]
    if stay:
        size = lengths(chosen)[-1]
        slowest = max(middle(select(chosen, length=size), f"{n}_ms") or 0 for n in stay)
        yield (
            f"These questions hardly depend on the size of the graph: {', '.join(stay)}, the "
            f"slowest in {number(slowest)} ms at {size:,} edges. What limits them: the way to the "
            "server and back, and the size of the answer."
        )


def _precision(rows: list[Row]) -> Iterator[str]:
    def changed(row: Row) -> float:
        possibly = row["outputs"] - row["promised"]
        return (row["outputs"] - row["truly"]) / possibly if possibly else 1.0

    chosen = select(rows, experiment="precision")
    if chosen:
        worst = min(chosen, key=lambda row: (changed(row), row["key"]))
        yield (
            f"*Possibly affected* says too much: at worst ({worst['of']}) "
            f"{share(changed(worst), 1)} of those outputs changed. What limits it: support follows "
            "what was read, not which values would have led to the same result."
        )


_BETTER: tuple[Point, ...] = (_costs_less, _memory, _record, _quick_questions)
_WORSE: tuple[Point, ...] = (_costs_more, _graph, _spark, _questions, _precision)
