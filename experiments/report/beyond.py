"""Beyond the paper: steps, rows, objects, Spark, streams, exports, real logs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from experiments.figures import Row, cost, divided, lengths, longest, middle, rate, select
from experiments.report.words import (
    by_query,
    cited,
    costs,
    number,
    section,
    times,
    told_table,
)

__all__ = [
    "cluster",
    "detail",
    "ends_and_steps",
    "export",
    "objects",
    "real",
    "rules",
    "spark",
    "stream",
]


@section("## Ends and steps", "detail")
def detail(rows: list[Row]) -> Iterator[str]:
    """What each detail costs."""
    chosen = select(rows, experiment="detail")
    yield from told_table(
        f"Time against an untracked run, {longest(chosen):,} events: `ends` keeps output to "
        "input, as above, `steps` every processor's events.",
        ["query", "ends", "steps"],
        by_query(chosen, lambda own: [times(each) for each in ends_and_steps(rows, own)]),
    )


def ends_and_steps(rows: list[Row], own: list[Row]) -> tuple[float | None, float | None]:
    """What both cost a query, each against the untracked runs of its own rounds."""
    same = {"query": own[0]["query"], "length": longest(own)}
    return cost(select(rows, experiment="throughput", **same)).times, cost(own, "steps").times


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
    runs = Counter[tuple[str, str]]()
    for row in chosen:
        runs[row["query"], row["tracking"]] += row.get("runs", 1)
    least = min(runs.values())
    told = f", each in the median of {least} runs or more" if least > 1 else ""
    yield from told_table(
        f"Events a second, `--master {chosen[0]['master']}`, {longest(chosen):,} events, from a "
        f"log of the record to a run of the record, in a session that is already warm{told}:",
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
        found = [select(chosen, format=format, length=size) for size in sizes]
        rates = [number(rate(each)) for each in found]
        held = [number(divided(middle(each, "peak_bytes"), 1e6)) for each in found]
        size = divided(middle(found[-1], "document_bytes"), sizes[-1])
        body.append([format, *rates, *held, number(size)])
    heads = [f"{word} at {size:,}" for word in ("events/s", "MB") for size in sizes]
    yield from told_table(
        f"The window query over so many events as a document, each measured {_often(chosen)}: "
        "events a second, memory above the start, and the size of the document.",
        ["syntax", *heads, "bytes an event"],
        body,
    )


def _often(rows: list[Row]) -> str:
    many = len({row["repetition"] for row in rows})
    return "once" if many == 1 else f"{many} times"


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
