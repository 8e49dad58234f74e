"""What is better and worse beyond the paper: steps, Spark, the graph, questions, precision."""

from __future__ import annotations

from experiments.figures import Row, divided, fit, longest, middle, rate, select
from experiments.report.beyond import ends_and_steps
from experiments.report.graph import QUESTIONS
from experiments.report.points import each_query, limited_by
from experiments.report.words import number, share, times

__all__ = ["cluster", "graph", "long_questions", "precision", "short_questions", "spark", "steps"]

HARDLY = 0.2
"""Up to this exponent a question is said to hardly depend on the size of the graph."""
PRICE = "jobs, workers and shuffles have a price that a log of this size does not earn back"


@limited_by("every processor's events are associations of their own")
def steps(rows: list[Row]) -> str:
    """What all steps cost more than the ends."""

    def tell(query: str, own: list[Row]) -> str | None:
        ends, every = ends_and_steps(rows, own) if own else (None, None)
        if ends is None or every is None or every <= ends:
            return None
        return f"{query} {times(every)} instead of {times(ends)}"

    each = each_query(select(rows, experiment="detail"), tell)
    return each and f"Every step costs more than the ends, against an untracked run: {each}"


@limited_by("a node for every event, and every part is safe on the server's disk before it counts")
def graph(rows: list[Row]) -> str:
    """How much slower than a run its way into the graph is."""
    chosen = select(rows, experiment="load")
    each = _slower(rows, chosen)
    at = longest(chosen)
    return each and f"The graph is slower than the run that fills it ({at:,} events): {each}"


@limited_by(PRICE)
def spark(rows: list[Row]) -> str:
    """How much slower than one process Spark is."""
    return _on_spark(rows, "spark")


@limited_by(f"{PRICE}, and all workers share one machine here")
def cluster(rows: list[Row]) -> str:
    return _on_spark(rows, "cluster")


def _on_spark(rows: list[Row], experiment: str) -> str:
    chosen = select(rows, experiment=experiment, tracking="ends")
    each = _slower(rows, chosen)
    return each and (
        f"Spark (`{chosen[0]['master']}`) is slower than one process for {longest(chosen):,} "
        f"events: {each}"
    )


def _slower(rows: list[Row], chosen: list[Row]) -> str:
    """The queries of which fewer events a second are done than by the local runner, tracked."""
    at = longest(chosen)
    local = select(rows, experiment="throughput", tracking="ends", length=at)

    def tell(query: str, own: list[Row]) -> str | None:
        found = rate(select(own, length=at))
        ratio = divided(rate(select(local, query=query)), found)
        if ratio is None or ratio <= 1:
            return None
        return f"{query} {number(found)} events/s, {number(ratio)} times fewer"

    return each_query(chosen, tell)


@limited_by("the way to the server and back, and the size of the answer")
def short_questions(rows: list[Row]) -> str:
    """What a large graph hardly slows down."""
    return _questions(rows, "These questions hardly depend on the size of the graph", grow=False)


@limited_by("they ask about all inputs or all outputs, and read all that lies between")
def long_questions(rows: list[Row]) -> str:
    """What takes longer the larger the graph is."""
    return _questions(rows, "These questions take longer the larger the graph is", grow=True)


def _questions(rows: list[Row], said: str, *, grow: bool) -> str:
    chosen = select(rows, experiment="questions")
    fits = {name: fit(chosen, f"{name}_ms") for name in QUESTIONS}
    names = [n for n, found in fits.items() if found and (found.exponent > HARDLY) is grow]
    if not names:
        return ""
    last = select(chosen, length=longest(chosen))
    took = {name: middle(last, f"{name}_ms") or 0.0 for name in names}
    slowest = max(names, key=lambda name: took[name])
    return (
        f"{said}: {', '.join(names)}; the slowest, {slowest}, takes {number(took[slowest])} ms at "
        f"{longest(chosen):,} edges"
    )


@limited_by("support follows what was read, not which values would have led to the same result")
def precision(rows: list[Row]) -> str:
    """How many of the possibly affected did not change, at worst."""

    def changed(row: Row) -> float:
        possibly = row["outputs"] - row["promised"]
        return (row["outputs"] - row["truly"]) / possibly if possibly else 1.0

    chosen = [row for row in select(rows, experiment="precision") if changed(row) < 1]
    if not chosen:
        return ""
    worst = min(chosen, key=lambda row: (changed(row), row["key"]))
    return (
        f"*Possibly affected* says too much: at worst ({worst['of']}) "
        f"{share(changed(worst), 1)} of those outputs changed"
    )
