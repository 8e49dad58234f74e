"""What the paper asked: throughput, slowdown, memory, how much fits, and how it grows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import NamedTuple

from experiments.figures import (
    Fit,
    Row,
    cost,
    divided,
    fit,
    lengths,
    longest,
    middle,
    select,
    slope,
)
from experiments.report.words import (
    MISSING,
    QUERIES,
    cited,
    costs,
    exponent,
    number,
    paragraph,
    section,
    times,
    told_table,
)

__all__ = [
    "LINEAR",
    "STAYS",
    "Powers",
    "beside",
    "extrapolation",
    "grown",
    "growth",
    "linear",
    "memory",
    "powers",
    "stays",
    "throughput",
]

LINEAR = (0.95, 1.05)
"""Between these an exponent is called linear."""
STAYS = 0.05
"""Up to this exponent memory is called constant."""


@section("## With and without the tracker", "throughput")
def throughput(rows: list[Row]) -> Iterator[str]:
    """Events a second at every length."""
    chosen = select(rows, experiment="throughput")
    yield "![Events a second against the length of the log](evaluation/throughput.svg)"
    yield ""
    yield from told_table(
        "Events a second of `--runner local`, from a log of the record to a run of the record; the "
        "shorter a log is, the more the start of a run weighs:",
        ["query", "events", "without", "with", "slowdown"],
        _at_each_length(chosen, lambda found, _: costs(cost(found))),
    )


def _at_each_length(
    rows: list[Row], tell: Callable[[list[Row], int], list[str]]
) -> Iterator[list[str]]:
    """A line for each query and each length."""
    for query in QUERIES:
        for length in lengths(rows):
            if found := select(rows, query=query, length=length):
                yield [query, f"{length:,}", *tell(found, length)]


@section("### Beside the paper's own figures", "throughput", asks=False, cites=True)
def beside(rows: list[Row]) -> Iterator[str]:
    """The paper's slowdowns and ours."""
    chosen, paper = select(rows, experiment="throughput"), cited()["paper"]
    ours = f" Ours are those of {longest(chosen):,} events." if chosen else ""
    body = []
    for query in QUERIES:
        off, on = paper["events_per_second"][query]
        own = cost(select(chosen, query=query)).times
        body.append([query, f"{off:,}", f"{on:,}", times(off / on), times(own)])
    yield from told_table(
        f"The paper's figures ({paper['source']}) are those of {paper['note'].strip()}. So its "
        "events a second are not to be set beside ours; only the slowdowns can be, and those with "
        f"care.{ours}",
        ["query", "paper, without", "paper, with", "paper, slowdown", "Whence, slowdown"],
        body,
    )


@section("## Memory", "throughput", asks=False)
def memory(rows: list[Row]) -> Iterator[str]:
    """Memory of the process, in all and an event, at every length."""
    chosen = select(rows, experiment="throughput")
    yield "![Memory against the length of the log](evaluation/memory.svg)"
    yield ""

    def tell(found: list[Row], length: int) -> list[str]:
        off, on = (middle(select(found, tracking=w), "peak_bytes") for w in ("off", "ends"))
        disk = middle(select(found, tracking="ends"), "association_bytes")
        told = [number(divided(each, 1e6)) for each in (off, on)]
        return [*told, number(divided(on, length)), number(divided(disk, length))]

    heads = ["query", "events", "MB, without", "MB, with", "bytes an event, with"]
    yield from told_table(
        "Megabytes that the process takes at most above what it had before the run, and bytes an "
        "event. The paper keeps all associations in memory; Whence writes them as it goes, so that "
        "what grows with the log is the record on disk.",
        [*heads, "bytes an event on disk"],
        _at_each_length(chosen, tell),
    )


@section("### How many events fit", "throughput", asks=False, cites=True)
def extrapolation(rows: list[Row]) -> Iterator[str]:
    """The paper's extrapolation to a machine of 64 GB, and ours."""
    paper = cited()["paper"]
    most, chosen = paper["memory"], select(rows, experiment="throughput", tracking="ends")
    objects = select(rows, experiment="objects", tracking="objects")
    gigabytes = f"{most / 1e9:.0f} GB"
    body = []
    for query in QUERIES:
        theirs = paper["bytes_per_event"][query]
        in_memory = _an_event(select(objects, query=query), "peak_bytes")
        disk = _an_event(select(chosen, query=query), "association_bytes")
        told = [f"{theirs:,}", number(most / theirs), number(in_memory)]
        told += [number(divided(most, in_memory)), number(disk), number(divided(most, disk))]
        body.append([query, *told])
    size = "bytes an event"
    heads = [
        "query",
        *(f"{of}: {what}" for of in ("paper", "objects") for what in (size, "events")),
    ]
    yield from told_table(
        f"The paper divides {gigabytes} of memory by its bytes an event and comes to "
        f"{paper['fits_in_memory']:,} events. The same for its three queries, for our own tracker "
        f"of objects in memory, and for the record, which needs {gigabytes} of disk instead:",
        [*heads, f"record: {size} on disk", "record: events"],
        body,
    )
    fresh = slope(select(grown(rows), query="lifecycle.fresh"), "process_bytes")
    if fresh is not None and fresh > 0:
        yield ""
        yield from paragraph(
            "Memory bounds a run only where its state grows: with a new case for every one that "
            f"ends the lifecycle takes {number(fresh)} bytes of memory an event, so that "
            f"{number(most / fresh)} events fit in {gigabytes}."
        )


def _an_event(rows: list[Row], column: str) -> float | None:
    """Bytes per event, at the longest log."""
    at = longest(rows)
    return divided(middle(select(rows, length=at), column), at)


_CLOCKS = ("seconds", "cpu_seconds")


def grown(rows: list[Row]) -> list[Row]:
    """The tracked runs over long logs, less what it takes to begin and to end a run."""
    return [
        {**row, **told, **{column: told[column] - told[f"start_{column}"] for column in _CLOCKS}}
        for row in select(rows, experiment="growth", tracking="ends")
        for told in json.loads(row["each"])
    ]


class Powers(NamedTuple):
    """With which powers of the log's length time by the clock, processor time and memory grow."""

    clock: Fit | None
    processor: Fit | None
    held: Fit | None


def powers(rows: list[Row]) -> Powers:
    """How time and memory of one query grow; lengths that took turns are compared."""
    columns = (*_CLOCKS, "process_bytes")
    return Powers(*(fit(rows, column, within="repetition") for column in columns))


@section("## Growth", "growth")
def growth(rows: list[Row]) -> Iterator[str]:
    """Exponents of time and memory, with their errors."""
    chosen = grown(rows)
    low, high = LINEAR
    body = []
    for query in (*QUERIES, "lifecycle.fresh"):
        found = select(chosen, query=query)
        clock, processor, held = powers(found)
        told = [exponent(clock), linear(clock), exponent(processor)]
        most = middle(select(found, length=longest(chosen)), "process_bytes")
        told += [exponent(held), number(divided(most, 1e6)), stays(held)]
        body.append([query, *told])
    heads = ["query", "time by the clock", "linear", "processor time", "memory"]
    yield from told_table(
        f"Powers of the log's length, fitted from {lengths(chosen)[0]:,} to "
        f"{longest(chosen):,} events, tracked, with the half-width of the 95 % interval. The "
        "lengths take turns, each in a process of its own, a shorter one more often, so that what "
        "else the machine does slows all of them alike; their mean counts, less the time of a run "
        "over 1,000 events: what it takes to begin and to end. Time is "
        f"linear if its exponent lies between {low} and {high}; "
        f"the memory of the process as a whole stays if its exponent is at most {STAYS}. "
        "`lifecycle` has a fixed number of cases, `lifecycle.fresh` a new case for each that ends: "
        "a Slice forgets none, so there memory must grow.",
        [*heads, f"MB at {longest(chosen):,}", "stays"],
        body,
    )


def linear(found: Fit | None) -> str:
    """Whether time is linear: the exponent itself, not only its interval."""
    return MISSING if found is None else _yes(LINEAR[0] <= found.exponent <= LINEAR[1])


def stays(found: Fit | None) -> str:
    """Whether memory stays as it is."""
    return MISSING if found is None else _yes(found.exponent <= STAYS)


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"
