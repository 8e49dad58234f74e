"""What became better and worse than in the paper: cost of tracking, memory, disk, growth."""

from __future__ import annotations

from collections.abc import Callable

from experiments.figures import Fit, Row, cost, divided, longest, middle, select, slope
from experiments.report.paper import LINEAR, STAYS, grown, powers
from experiments.report.points import each_query, limited_by
from experiments.report.words import cited, exponent, number, times

__all__ = [
    "costs_less",
    "costs_more",
    "disk",
    "memory",
    "new_cases",
    "time_grows_as_the_log",
    "time_grows_otherwise",
]


def _costs(rows: list[Row], *, less: bool) -> str:
    """The queries whose slowdown is smaller than in the paper, or those whose is not."""

    def tell(query: str, own: list[Row]) -> str | None:
        ours = cost(own).times
        off, on = cited()["paper"]["events_per_second"][query]
        if ours is None or (ours < off / on) is not less:
            return None
        return f"{query} {times(ours)} instead of {times(off / on)}"

    return each_query(select(rows, experiment="throughput"), tell)


@limited_by(
    "both sides read and write the same Parquet, so that the faster the query itself is, the more "
    "the associations weigh"
)
def costs_less(rows: list[Row]) -> str:
    """Where tracking is cheaper."""
    each = _costs(rows, less=True)
    return each and f"Tracking costs less than in the paper: {each}"


@limited_by(
    "an output of a Slice has its own reasons, which no rule covers, so that something is written "
    "for every event"
)
def costs_more(rows: list[Row]) -> str:
    """Where it is not."""
    each = _costs(rows, less=False)
    return each and f"Tracking costs as much as in the paper or more: {each}"


@limited_by("a Slice forgets no case, so that memory follows the cases that ever were")
def memory(rows: list[Row]) -> str:
    """Where a run needs less memory."""
    chosen = select(rows, experiment="throughput", tracking="ends")
    at = longest(chosen)

    def tell(query: str, own: list[Row]) -> str | None:
        ours = middle(select(own, length=at), "peak_bytes")
        theirs = cited()["paper"]["bytes_per_event"][query] * at
        if ours is None or ours >= theirs:
            return None
        return f"{query} {number(ours / 1e6)} MB instead of {number(theirs / 1e6)} MB"

    each = each_query(chosen, tell)
    return each and (
        f"Memory for {at:,} events is less than the paper's bytes an event would come to: {each}"
    )


@limited_by("reasons that differ from output to output are numbers that hardly pack")
def disk(rows: list[Row]) -> str:
    """Where the record is smaller than what the paper holds in memory."""
    chosen = select(rows, experiment="throughput", tracking="ends")
    at = longest(chosen)

    def tell(query: str, own: list[Row]) -> str | None:
        ours = divided(middle(select(own, length=at), "association_bytes"), at)
        theirs = cited()["paper"]["bytes_per_event"][query]
        if ours is None or ours >= theirs:
            return None
        return f"{query} {number(ours)} instead of {theirs:,}"

    each = each_query(chosen, tell)
    return each and (
        "The record keeps what explains the outputs in fewer bytes an event on disk than the paper "
        f"holds in memory: {each}"
    )


def _time_grows(rows: list[Row], how: Callable[[Fit], bool]) -> str:
    """The queries whose time grows in some way, with exponents."""

    def tell(query: str, own: list[Row]) -> str | None:
        found = powers(own).clock
        return f"{query} {exponent(found)}" if found is not None and how(found) else None

    return each_query(grown(rows), tell)


@limited_by("one process works through the log, one batch after the other")
def time_grows_as_the_log(rows: list[Row]) -> str:
    """Where time is linear."""
    each = _time_grows(rows, lambda found: LINEAR[0] <= found.exponent <= LINEAR[1])
    return each and f"Time grows as the log does (exponents): {each}"


@limited_by("these rows do not say; if processor time grows so too, it is work and not waiting")
def time_grows_otherwise(rows: list[Row]) -> str:
    """Where it is not, and the error does not explain that."""
    each = _time_grows(rows, lambda found: abs(found.exponent - 1) - found.error > LINEAR[1] - 1)
    return each and f"Time does not grow as the log does (exponents): {each}"


@limited_by("a Slice cannot know that a case has ended, so that it forgets none")
def new_cases(rows: list[Row]) -> str:
    """Where memory grows."""
    chosen = select(grown(rows), query="lifecycle.fresh")
    power, more = powers(chosen).held, slope(chosen, "process_bytes")
    if power is None or more is None or power.exponent <= STAYS:
        return ""
    return (
        "Memory grows where new cases keep coming: by "
        f"{number(more)} bytes an event of the lifecycle"
    )
