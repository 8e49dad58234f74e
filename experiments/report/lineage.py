"""Explanations themselves: how large they are, whether that is constant, and their worth."""

from __future__ import annotations

from collections.abc import Iterator

from experiments.figures import Row, divided, fit, lengths, longest, middle, select
from experiments.report.words import MISSING, exponent, number, section, share, told_table

__all__ = ["constant", "precision", "sizes"]

CONSTANT = 0.05
"""Up to this exponent the amount of lineage an output adds is called constant."""


def _queries(rows: list[Row]) -> list[str]:
    order = ["window", "ltl", "lifecycle", "lifecycle.fresh", "total"]
    found = {row["query"] for row in rows}
    return [query for query in order if query in found]


@section("## How many events explain an output", "sizes")
def sizes(rows: list[Row]) -> Iterator[str]:
    """The distribution at the longest log."""
    chosen = select(rows, experiment="sizes")
    at = longest(chosen)
    yield "![How many events explain an output](evaluation/sizes.svg)"
    yield ""
    shares = (10, 25, 50, 75, 90, 99, 100)
    body = []
    for query in _queries(chosen):
        found = select(chosen, query=query, length=at)
        told = [number(middle(found, f"explained_by_p{each}")) for each in shares]
        body.append([query, *told, number(middle(found, "explained_by_mean"))])
    yield from told_table(
        f"Over outputs spread evenly over a log of {at:,} events: of so many in a hundred, at "
        "most so many events are the explanation. `total` is a running sum, which leans on all.",
        ["query", *(f"{each} %" for each in shares), "mean"],
        body,
    )


@section("### Does each output add the same lineage?", "sizes", asks=False)
def constant(rows: list[Row]) -> Iterator[str]:
    """The paper's claim, where it holds and where it does not."""
    chosen = select(rows, experiment="sizes")
    first, last = lengths(chosen)[0], lengths(chosen)[-1]
    body = []
    for query in _queries(chosen):
        found = select(chosen, query=query)
        told = [number(middle(select(found, length=n), "explained_by_mean")) for n in (first, last)]
        power = fit(found, "explained_by_mean")
        holds = MISSING if power is None else "yes" if power.exponent <= CONSTANT else "no"
        disk = [_bytes(select(found, length=n)) for n in (first, last)]
        body.append([query, *told, exponent(power), holds, *disk])
    heads = ["query", f"events at {first:,}", f"at {last:,}", "grows as", "constant"]
    yield from told_table(
        "The paper says that each output contributes a constant amount of lineage. Here are the "
        f"events that explain an output, in the mean, in logs of {first:,} and of {last:,} events, "
        "and the power of the log's length with which they grow, with the half-width of its 95 % "
        f"interval; up to {CONSTANT} the claim holds. What the record keeps of an output on disk "
        "is another matter: a rule or a pointer to the output before says much in few bytes.",
        [*heads, f"bytes an output at {first:,}", f"at {last:,}"],
        body,
    )


def _bytes(rows: list[Row]) -> str:
    return number(divided(middle(rows, "association_bytes"), middle(rows, "outputs")))


@section("## What *possibly affected* is worth", "precision")
def precision(rows: list[Row]) -> Iterator[str]:
    """How many of the outputs that a corruption possibly affects do change."""
    chosen = select(rows, experiment="precision")
    body = []
    for row in sorted(chosen, key=lambda each: each["key"]):
        possibly, changed = row["outputs"] - row["promised"], row["outputs"] - row["truly"]
        told = [f"{row['corruptions']:,}", f"{row['outputs']:,}", f"{possibly:,}"]
        told += [share(changed, possibly), share(row["recognised"], row["truly"])]
        body.append([row["of"], *told])
    heads = ["of", "corruptions", "outputs asked about", "possibly affected"]
    yield from told_table(
        "Inputs were changed and the chain ran again. Of the outputs that `impact` calls "
        "unaffected none ever changed: a cell in which one does is no measurement but an error. Of "
        "those that it calls possibly affected some changed; another value than those tried might "
        "have changed more, so that this is the least. The last column is the other side: of the "
        "outputs that stood under every value tried, the share that was called unaffected.",
        [*heads, "of these changed", "of those that stood, called unaffected"],
        body,
    )
