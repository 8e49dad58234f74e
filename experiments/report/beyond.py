"""Beyond the paper: steps, rows, objects, Spark, streams, exports, real logs."""

from __future__ import annotations

from collections.abc import Iterator

from experiments.figures import Row, divided, fit, lengths, middle, rate, select
from experiments.report.paper import slowdown
from experiments.report.words import (
    QUERIES,
    exponent,
    number,
    paragraph,
    section,
    table,
    times,
)

__all__ = ["cluster", "detail", "export", "objects", "real", "rules", "spark", "stream"]


@section("## Ends and steps", "detail")
def detail(rows: list[Row]) -> Iterator[str]:
    """What each detail costs."""
    chosen = select(rows, experiment="detail")
    yield from paragraph(
        f"Time against an untracked run, {lengths(chosen)[-1]:,} events: `ends` keeps output to "
        "input, `steps` every processor's events."
    )
    yield ""
    body = [
        [query, *(times(slowdown(chosen, query, to=word)) for word in ("ends", "steps"))]
        for query in QUERIES
    ]
    yield from table(["query", "ends", "steps"], body)


@section("### Rules and rows", "rows")
def rules(rows: list[Row]) -> Iterator[str]:
    """What compact associations save."""
    chosen = select(rows, experiment="rows")
    yield from paragraph(
        f"Time against an untracked run, in memory, {lengths(chosen)[-1]:,} events: associations "
        "as compact rules, and spread into a row for each output and input."
    )
    yield ""
    body = []
    for query in QUERIES:
        compact, spread = (slowdown(chosen, query, to=word) for word in ("compact", "rows"))
        body.append([query, times(compact), times(spread), times(divided(spread, compact))])
    yield from table(["query", "rules", "rows", "rows against rules"], body)


@section("## One event at a time", "objects")
def objects(rows: list[Row]) -> Iterator[str]:
    """The interpreter with a tracker of objects."""
    chosen = select(rows, experiment="objects")
    longest = lengths(chosen)[-1]
    yield from paragraph(
        f"The interpreter with a tracker of Python objects, {longest:,} events: the nearest to "
        "what the paper measured."
    )
    yield ""
    body = []
    for query in QUERIES:
        found = select(chosen, query=query, length=longest)
        off, on = (rate(select(found, tracking=word)) for word in ("off", "objects"))
        held = middle(select(found, tracking="objects"), "peak_bytes")
        told = [number(off), number(on), times(divided(off, on)), number(divided(held, longest))]
        body.append([query, *told])
    yield from table(["query", "without", "with", "slowdown", "bytes an event"], body)


@section("## On Spark", "spark")
def spark(rows: list[Row]) -> Iterator[str]:
    """Events a second on Spark, in one process."""
    yield from _on_spark(select(rows, experiment="spark"))


@section("### On a cluster", "cluster")
def cluster(rows: list[Row]) -> Iterator[str]:
    """The same on a master and workers of their own, on the same machine."""
    yield from _on_spark(select(rows, experiment="cluster"))


def _on_spark(chosen: list[Row]) -> Iterator[str]:
    longest = lengths(chosen)[-1]
    yield from paragraph(
        f"Events a second, `--master {chosen[0]['master']}`, {longest:,} events, from a log of the "
        "record to a run of the record:"
    )
    yield ""
    body = []
    for query in QUERIES:
        found = select(chosen, query=query, length=longest)
        off, on = (rate(select(found, tracking=word)) for word in ("off", "ends"))
        body.append([query, number(off), number(on), times(divided(off, on))])
    yield from table(["query", "without", "with", "slowdown"], body)


@section("## Streams", "stream")
def stream(rows: list[Row]) -> Iterator[str]:
    """Events a second of a stream."""
    chosen = select(rows, experiment="stream")
    yield from paragraph(
        "Files of a lifecycle over a thousand open cases come into a folder four a second; "
        "outputs, associations and state are kept after every batch. Memory: how many times as "
        "large the process was at the end as at most in the first third."
    )
    yield ""
    body = []
    for word, said in (("off", "without"), ("ends", "with")):
        found = select(chosen, tracking=word)
        told = [number(middle(found, "length")), number(rate(found))]
        body.append([said, *told, times(middle(found, "memory_growth"))])
    yield from table(["tracking", "events", "events/s", "memory"], body)


@section("## Exports", "export")
def export(rows: list[Row]) -> Iterator[str]:
    """What each syntax takes."""
    chosen = select(rows, experiment="export")
    longest = lengths(chosen)[-1]
    yield from paragraph(
        f"The window query over {longest:,} events as a document, in constant memory; the exponent "
        "is that of the time against the length."
    )
    yield ""
    body = []
    for format in sorted({row["format"] for row in chosen}):
        every = select(chosen, format=format)
        found = select(every, length=longest)
        told = [number(rate(found)), number(divided(middle(found, "document_bytes"), longest))]
        told += [number(divided(middle(found, "peak_bytes"), 1e6)), exponent(fit(every))]
        body.append([format, *told])
    yield from table(["syntax", "events/s", "bytes an event", "MB of memory", "grows as"], body)


@section("## Logs of real processes", "real")
def real(rows: list[Row]) -> Iterator[str]:
    """A rule over every case of real logs."""
    chosen = select(rows, experiment="real")
    yield "A rule over every case (`experiments/real.yaml`), `--runner local`:"
    yield ""
    body = []
    for log in sorted({row["log"] for row in chosen}):
        off, on = (select(chosen, log=log, tracking=word) for word in ("off", "ends"))
        length = middle([*off, *on], "length")
        told = [number(length), number(rate(on)), times(divided(rate(off), rate(on)))]
        body.append([log, *told, number(divided(middle(on, "association_bytes"), length))])
    yield from table(["log", "events", "events/s, tracked", "slowdown", "bytes an event"], body)
