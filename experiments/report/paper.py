"""What the paper asked: throughput, slowdown, memory, how much fits, and how it grows."""

from __future__ import annotations

from collections.abc import Iterator

from experiments.figures import Fit, Row, divided, fit, lengths, middle, rate, select, slope
from experiments.report.words import (
    MISSING,
    QUERIES,
    cited,
    exponent,
    number,
    paragraph,
    section,
    table,
    times,
)

__all__ = ["LINEAR", "beside", "extrapolation", "growth", "memory", "slowdown", "throughput"]

LINEAR = (0.95, 1.05)
"""Between these an exponent is called linear."""
STAYS = 0.05
"""Up to this exponent memory is called constant."""


def slowdown(
    rows: list[Row], query: str, length: int | None = None, to: str = "ends"
) -> float | None:
    """How many times as long a run takes with tracking, at a length or at the longest."""
    chosen = select(rows, query=query)
    at = length or (lengths(chosen) or [0])[-1]
    off, on = (rate(select(chosen, tracking=word, length=at)) for word in ("off", to))
    return divided(off, on)


@section("## With and without the tracker", "throughput")
def throughput(rows: list[Row]) -> Iterator[str]:
    """Events a second at every length."""
    chosen = select(rows, experiment="throughput")
    yield "![Events a second against the length of the log](evaluation/throughput.svg)"
    yield ""
    yield "Events a second of `--runner local`, from a log of the record to a run of the record:"
    yield ""
    body = []
    for query in QUERIES:
        for length in lengths(chosen):
            found = select(chosen, query=query, length=length)
            off, on = (rate(select(found, tracking=word)) for word in ("off", "ends"))
            told = [number(off), number(on), times(divided(off, on))]
            body.append([query, f"{length:,}", *told])
    yield from table(["query", "events", "without", "with", "slowdown"], body)


@section("### Beside the paper's own figures", "throughput", asks=False, cites=True)
def beside(rows: list[Row]) -> Iterator[str]:
    """The paper's slowdowns and ours."""
    chosen, paper = select(rows, experiment="throughput"), cited()["paper"]
    ours = f" Ours are those of {lengths(chosen)[-1]:,} events." if chosen else ""
    yield from paragraph(
        f"The paper ({paper['source']}) measured on {paper['note'].strip()}: only the slowdowns "
        f"can be compared, and those with care.{ours}"
    )
    yield ""
    body = []
    for query in QUERIES:
        off, on = paper["events_per_second"][query]
        own = slowdown(chosen, query)
        body.append([query, f"{off:,}", f"{on:,}", times(off / on), times(own)])
    heads = ["query", "paper, without", "paper, with", "paper, slowdown", "Whence, slowdown"]
    yield from table(heads, body)


@section("## Memory", "throughput", asks=False)
def memory(rows: list[Row]) -> Iterator[str]:
    """Memory of the process, in all and an event, at every length."""
    chosen = select(rows, experiment="throughput")
    yield "![Memory against the length of the log](evaluation/memory.svg)"
    yield ""
    yield from paragraph(
        "Megabytes that the process takes at most above what it had before the run, and bytes an "
        "event. The paper keeps all associations in memory; Whence writes them as it goes, so that "
        "what grows with the log is the record on disk."
    )
    yield ""
    body = []
    for query in QUERIES:
        for length in lengths(chosen):
            found = select(chosen, query=query, length=length)
            off, on = (middle(select(found, tracking=w), "peak_bytes") for w in ("off", "ends"))
            disk = middle(select(found, tracking="ends"), "association_bytes")
            told = [number(divided(each, 1e6)) for each in (off, on)]
            told += [number(divided(on, length)), number(divided(disk, length))]
            body.append([query, f"{length:,}", *told])
    heads = ["query", "events", "MB, without", "MB, with", "bytes an event, with"]
    yield from table([*heads, "bytes an event on disk"], body)


@section("### How many events fit", "throughput", asks=False, cites=True)
def extrapolation(rows: list[Row]) -> Iterator[str]:
    """The paper's extrapolation to a machine of 64 GB, and ours."""
    paper = cited()["paper"]
    most, chosen = paper["memory"], select(rows, experiment="throughput", tracking="ends")
    objects = select(rows, experiment="objects", tracking="objects")
    gigabytes = f"{most / 1e9:.0f} GB"
    yield from paragraph(
        f"The paper divides {gigabytes} of memory by its bytes an event and comes to "
        f"{paper['fits_in_memory']:,} events. The same for its three queries, for our own tracker "
        f"of objects in memory, and for the record, which needs {gigabytes} of disk instead:"
    )
    yield ""
    body = []
    for query in QUERIES:
        theirs = paper["bytes_per_event"][query]
        held = select(objects, query=query, length=(lengths(objects) or [0])[-1])
        in_memory = divided(middle(held, "peak_bytes"), held[0]["length"]) if held else None
        found = select(chosen, query=query, length=lengths(chosen)[-1]) if chosen else []
        disk = divided(middle(found, "association_bytes"), lengths(chosen)[-1]) if found else None
        told = [f"{theirs:,}", number(most / theirs), number(in_memory)]
        told += [number(divided(most, in_memory)), number(disk), number(divided(most, disk))]
        body.append([query, *told])
    heads = ["query", "paper, bytes an event", "events", "objects, bytes an event", "events"]
    yield from table([*heads, "record, bytes an event on disk", "events"], body)
    fresh = slope(select(rows, experiment="growth", query="lifecycle.fresh"), "peak_bytes")
    if fresh is not None and fresh > 0:
        yield ""
        yield from paragraph(
            "Memory bounds a run only where its state grows: with a new case for every one that "
            f"ends the lifecycle takes {number(fresh)} bytes of memory an event, so that "
            f"{number(most / fresh)} events fit in {gigabytes}."
        )


@section("## Growth", "growth")
def growth(rows: list[Row]) -> Iterator[str]:
    """Exponents of time and memory, with their errors."""
    chosen = select(rows, experiment="growth", tracking="ends")
    low, high = LINEAR
    yield from paragraph(
        f"Powers of the log's length, fitted from {lengths(chosen)[0]:,} to "
        f"{lengths(chosen)[-1]:,} events, tracked, with the half-width of the 95 % interval. Time "
        f"is linear if its exponent lies between {low} and {high}; the memory of the process as a "
        f"whole stays if its exponent is at most {STAYS}. `lifecycle` has a fixed number of "
        "cases, `lifecycle.fresh` a new case for each that ends: a Slice forgets none, so there "
        "memory must grow."
    )
    yield ""
    body = []
    for query in (*QUERIES, "lifecycle.fresh"):
        found = select(chosen, query=query)
        clock, processor = fit(found), fit(found, "cpu_seconds")
        held = fit(found, "process_bytes")
        told = [exponent(clock), linear(clock), exponent(processor)]
        longest = middle(select(found, length=lengths(chosen)[-1]), "process_bytes")
        told += [exponent(held), number(divided(longest, 1e6)), stays(held)]
        body.append([query, *told])
    heads = ["query", "time by the clock", "linear", "processor time", "memory"]
    yield from table([*heads, f"MB at {lengths(chosen)[-1]:,}", "stays"], body)


def linear(found: Fit | None) -> str:
    """Whether time is linear: the exponent itself, not only its interval."""
    return MISSING if found is None else _yes(LINEAR[0] <= found.exponent <= LINEAR[1])


def stays(found: Fit | None) -> str:
    """Whether memory stays as it is."""
    return MISSING if found is None else _yes(found.exponent <= STAYS)


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"
