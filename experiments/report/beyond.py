"""Beyond the paper: steps, rows, objects, Spark, streams, exports, real logs."""

from __future__ import annotations

from collections.abc import Iterator

from experiments.figures import Row, cost, divided, fit, lengths, longest, middle, rate, select
from experiments.report.words import (
    by_query,
    cited,
    costs,
    exponent,
    number,
    section,
    times,
    told_table,
)

__all__ = ["cluster", "detail", "export", "objects", "real", "rules", "spark", "stream"]


@section("## Ends and steps", "detail")
def detail(rows: list[Row]) -> Iterator[str]:
    """What each detail costs."""
    chosen = select(rows, experiment="detail")
    yield from told_table(
        f"Time against an untracked run, {longest(chosen):,} events: `ends` keeps output to "
        "input, `steps` every processor's events.",
        ["query", "ends", "steps"],
        by_query(chosen, lambda own: [times(cost(own, to).times) for to in ("ends", "steps")]),
    )


@section("### Rules and rows", "rows")
def rules(rows: list[Row]) -> Iterator[str]:
    """What compact associations save."""
    chosen = select(rows, experiment="rows")

    def tell(own: list[Row]) -> list[str]:
        compact, spread = (cost(own, to).times for to in ("compact", "rows"))
        return [times(compact), times(spread), times(divided(spread, compact))]

    yield from told_table(
        f"Time against an untracked run, in memory, {longest(chosen):,} events: associations "
        "as compact rules, and spread into a row for each output and input.",
        ["query", "rules", "rows", "rows against rules"],
        by_query(chosen, tell),
    )


@section("## One event at a time", "objects")
def objects(rows: list[Row]) -> Iterator[str]:
    """The interpreter with a tracker of objects."""
    chosen = select(rows, experiment="objects")
    paper = cited()["paper"]

    def tell(own: list[Row]) -> list[str]:
        at, query = longest(own), own[0]["query"]
        held = middle(select(own, tracking="objects", length=at), "peak_bytes")
        off, on = paper["events_per_second"][query]
        told = [*costs(cost(own, "objects")), times(off / on), number(divided(held, at))]
        return [*told, f"{paper['bytes_per_event'][query]:,}"]

    yield from told_table(
        f"The interpreter with a tracker of Python objects, {longest(chosen):,} events: the "
        "nearest to what the paper measured, whose slowdown and bytes an event stand beside "
        f"(of {paper['note'].strip()}).",
        [
            *("query", "events/s, without", "with", "slowdown", "paper, slowdown"),
            *("bytes an event", "paper, bytes an event"),
        ],
        by_query(chosen, tell),
    )


@section("## On Spark", "spark")
def spark(rows: list[Row]) -> Iterator[str]:
    """Events a second on Spark, in one process."""
    yield from _on_spark(select(rows, experiment="spark"))


@section("### On a cluster", "cluster")
def cluster(rows: list[Row]) -> Iterator[str]:
    """The same on a master and workers of their own, on the same machine."""
    yield from _on_spark(select(rows, experiment="cluster"))


def _on_spark(chosen: list[Row]) -> Iterator[str]:
    yield from told_table(
        f"Events a second, `--master {chosen[0]['master']}`, {longest(chosen):,} events, from a "
        "log of the record to a run of the record, in a session that is already warm:",
        ["query", "without", "with", "slowdown"],
        by_query(chosen, lambda own: costs(cost(own))),
    )


@section("## Streams", "stream")
def stream(rows: list[Row]) -> Iterator[str]:
    """Events a second of a stream."""
    chosen = select(rows, experiment="stream")
    body = []
    for word, said in (("off", "without"), ("ends", "with")):
        found = select(chosen, tracking=word)
        told = [number(middle(found, "length")), number(rate(found))]
        body.append([said, *told, times(middle(found, "memory_growth"))])
    yield from told_table(
        "Files of a lifecycle over a thousand open cases come into a folder four a second; "
        "outputs, associations and state are kept after every batch. Memory: how many times as "
        "large the process was at the end as at most in the first third.",
        ["tracking", "events", "events/s", "memory"],
        body,
    )


@section("## Exports", "export")
def export(rows: list[Row]) -> Iterator[str]:
    """What each syntax takes."""
    chosen = select(rows, experiment="export")
    sizes = lengths(chosen)
    body = []
    for format in sorted({row["format"] for row in chosen}):
        every = select(chosen, format=format)
        found = select(every, length=sizes[-1])
        told = [number(rate(found)), number(divided(middle(found, "document_bytes"), sizes[-1]))]
        for size in sizes:
            held = middle(select(every, length=size), "peak_bytes")
            told.append(number(divided(held, 1e6)))
        body.append([format, *told, exponent(fit(every))])
    yield from told_table(
        f"The window query over {sizes[-1]:,} events as a document; the exponent is that of the "
        "time against the length.",
        ["syntax", "events/s", "bytes an event", *(f"MB at {n:,}" for n in sizes), "grows as"],
        body,
    )


@section("## Logs of real processes", "real")
def real(rows: list[Row]) -> Iterator[str]:
    """A rule over every case of real logs."""
    chosen = select(rows, experiment="real")
    body = []
    for log in sorted({row["log"] for row in chosen}):
        own = select(chosen, log=log)
        disk = middle(select(own, tracking="ends"), "association_bytes")
        told = [f"{longest(own):,}", *costs(cost(own)), number(divided(disk, longest(own)))]
        body.append([log, *told])
    yield from told_table(
        "A rule over every case (`experiments/real.yaml`), `--runner local`, events a second:",
        ["log", "events", "without", "with", "slowdown", "bytes an event on disk"],
        body,
    )
