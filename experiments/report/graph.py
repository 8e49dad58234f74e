"""The graph: how fast it is loaded, and how long questions take."""

from __future__ import annotations

from collections.abc import Iterator

from experiments.figures import Row, divided, fit, lengths, middle, rate, select
from experiments.report.words import QUERIES, exponent, number, section, told_table

__all__ = ["QUESTIONS", "load", "questions"]

QUESTIONS = {
    "explain": "why an output has its value",
    "responsibility": "how much one output rests on each input",
    "search": "find an event",
    "trace": "an event through all runs",
    "impact": "what one input event in a hundred, if corrupt, affects",
    "never_matters": "which inputs never mattered",
    "contribution": "which inputs explain the most",
    "compare": "what differs between two runs",
    "ask": "count all edges to inputs",
    "what_if": "run again with a value corrected",
}


@section("## Into the graph", "load")
def load(rows: list[Row]) -> Iterator[str]:
    """Events, nodes and edges a second."""
    chosen = select(rows, experiment="load")
    body = []
    for query in QUERIES:
        for length in lengths(chosen):
            if not (found := select(chosen, query=query, length=length)):
                continue
            seconds = middle(found, "seconds")
            made = [divided(middle(found, name), seconds) for name in ("nodes", "edges")]
            body.append([query, f"{length:,}", number(rate(found)), *map(number, made)])
    yield from told_table(
        "From a run of the record to a graph of which all can be asked, on a server that is warm:",
        ["query", "events", "events/s", "nodes/s", "edges/s"],
        body,
    )


@section("## Questions", "questions")
def questions(rows: list[Row]) -> Iterator[str]:
    """Milliseconds of each question against the graph's size."""
    chosen = select(rows, experiment="questions")
    sizes = lengths(chosen)
    yield "![How long questions take against the size of the graph](evaluation/questions.svg)"
    yield ""
    body = []
    for name, meaning in QUESTIONS.items():
        column = f"{name}_ms"
        told = [number(middle(select(chosen, length=size), column)) for size in sizes]
        body.append([f"`{name}`: {meaning}", *told, exponent(fit(chosen, column))])
    heads = [f"{size:,} edges" for size in sizes]
    yield from told_table(
        "Milliseconds, in the median, of a run with so many edges to its inputs; beside it the "
        "graph holds another run of that size and one that reads the first one's outputs. Last, "
        "the power of the graph's size with which the time grows: 0 is an answer that does not "
        "care how large the graph is, 1 one that looks at all of it.",
        ["question", *heads, "grows as"],
        body,
    )
