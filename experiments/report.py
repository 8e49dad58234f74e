"""The evaluation page and its pictures, made of the stored rows and of nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from experiments.figures import Row, fit, lengths, middle, rate, select
from experiments.plan import declared
from experiments.plots import Line, lines

__all__ = ["PAGE", "page", "pictures", "write_report"]

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "explanation" / "evaluation.md"
QUERIES = ("window", "lifecycle", "ltl")
CITED = HERE / "cited.yaml"
MEMORY = 64e9


def write_report(rows: list[Row]) -> Path:
    """Write page and pictures."""
    PAGE.write_text(page(rows), encoding="utf-8")
    folder = PAGE.with_suffix("")
    folder.mkdir(exist_ok=True)
    for name, text in pictures(rows).items():
        (folder / name).write_text(text, encoding="utf-8")
    return PAGE


def pictures(rows: list[Row]) -> dict[str, str]:
    """The pictures, by file name."""
    chosen = select(rows, experiment="throughput")

    def drawn(value: Any) -> list[Line]:
        return [
            Line(
                f"{query}{', tracked' if tracked else ''}",
                query,
                tracked,
                [
                    (n, value(select(chosen, query=query, tracking=word, length=n)))
                    for n in lengths(chosen)
                ],
            )
            for query in QUERIES
            for tracked, word in ((False, "off"), (True, "ends"))
        ]

    peak = drawn(lambda found: max(middle(found, "peak_bytes") / 1e6, 0.1))
    return {
        "throughput.svg": lines(drawn(rate), "events of the log", "events/s"),
        "memory.svg": lines(peak, "events of the log", "MB above the start"),
    }


def page(rows: list[Row]) -> str:
    """The page as Markdown."""
    sections = [_head, _throughput, _slowdown, _memory, _growth, _detail, _objects]
    sections += [_sizes, _spark, _real, _others, _limits]
    return "\n\n".join("\n".join(section(rows)) for section in sections) + "\n"


def _table(heads: list[str], body: Iterator[list[str]] | list[list[str]]) -> Iterator[str]:
    yield "| " + " | ".join(heads) + " |"
    yield "|" + "---|" * len(heads)
    for cells in body:
        yield "| " + " | ".join(cells) + " |"


def _cited() -> dict[str, Any]:
    cited: dict[str, Any] = yaml.safe_load(CITED.read_text(encoding="utf-8"))
    return cited


def _question(name: str) -> str:
    return next(e.question for e in declared()[1] if e.name == name)


def _number(value: float) -> str:
    """Three digits that count.

    >>> _number(1234567.0), _number(0.1234), _number(12.0)
    ('1,230,000', '0.123', '12.0')
    """
    if value >= 100:
        digits = 10 ** (len(str(int(value))) - 3)
        return f"{round(value / digits) * digits:,}"
    return f"{value:.3g}" if value < 10 else f"{value:.1f}"


def _head(rows: list[Row]) -> Iterator[str]:
    one = rows[0]
    versions = [f"{name} {one[name]}" for name in ("python", "numpy", "pyarrow", "pyspark")]
    yield "# Evaluation"
    yield ""
    yield "Every number of ours on this page is computed from `experiments/results`, which"
    yield "`make experiments` writes; a test makes the page again from them and compares. One cell"
    yield "is one process; cells of one experiment run in turn, every other round backwards; given"
    yield "are medians."
    yield ""
    yield f"Measured on {one['processor']}, {one['cores']} cores, {one['memory_gib']} GiB,"
    yield f"{one['system'].split()[0]}, {', '.join(versions)}, at commit {one['commit']}."


def _throughput(rows: list[Row]) -> Iterator[str]:
    chosen = select(rows, experiment="throughput")
    yield "## With and without the tracker"
    yield ""
    yield _question("throughput")
    yield ""
    yield "![Events a second against the length of the log](evaluation/throughput.svg)"
    yield ""
    yield "Events a second of `--runner local`, from a log of the record to a run of the record:"
    yield ""
    longest = lengths(chosen)[-1]
    body = []
    for query in QUERIES:
        off, on = (
            rate(select(chosen, query=query, tracking=word, length=longest))
            for word in ("off", "ends")
        )
        body.append([query, _number(off), _number(on), f"{off / on:.2f}x"])
    yield from _table(["query", "without", "with", "slowdown"], body)


def _slowdown(rows: list[Row]) -> Iterator[str]:
    chosen = select(rows, experiment="throughput")
    paper = _cited()["paper"]
    yield "### Beside the paper's own figures"
    yield ""
    yield f"The paper's were measured on {' '.join(paper['note'].split())}:"
    yield "only the slowdowns can be compared, and those with care."
    yield ""
    longest, body = lengths(chosen)[-1], []
    for query in QUERIES:
        off, on = paper["events_per_second"][query]
        ours = [
            rate(select(chosen, query=query, tracking=word, length=longest))
            for word in ("off", "ends")
        ]
        told = [f"{off:,}", f"{on:,}", f"{off / on:.2f}x", f"{ours[0] / ours[1]:.2f}x"]
        body.append([query, *told])
    heads = ["query", "paper, without", "paper, with", "paper, slowdown", "Whence, slowdown"]
    yield from _table(heads, body)


def _memory(rows: list[Row]) -> Iterator[str]:
    chosen = select(rows, experiment="throughput", tracking="ends")
    paper = _cited()["paper"]
    longest = lengths(chosen)[-1]
    yield "## Memory"
    yield ""
    yield "![Memory against the length of the log](evaluation/memory.svg)"
    yield ""
    yield "The paper keeps all associations in memory. Whence writes them as it goes, so what grows"
    yield "with the log is the record on disk:"
    yield ""
    body = []
    for query in QUERIES:
        found = select(chosen, query=query, length=longest)
        each = middle(found, "association_bytes") / longest
        told = [f"{paper['bytes_per_event'][query]:,}", f"{each:.2f}"]
        told += [_number(middle(found, "peak_bytes") / 1e6)]
        body.append([query, *told, _number(MEMORY / max(each, 0.01))])
    heads = ["query", "paper, bytes an event in memory", "Whence, bytes an event on disk"]
    heads += [f"MB of memory at {longest:,} events", "events whose reasons fit in 64 GB of disk"]
    yield from _table(heads, body)
    yield ""
    yield f"The paper extrapolates to {paper['fits_in_64_gb']:,} events in 64 GB of memory."


def _growth(rows: list[Row]) -> Iterator[str]:
    chosen = select(rows, experiment="throughput")
    yield "## Growth"
    yield ""
    yield "Time as a power of the log's length, fitted from 100,000 events on, with the half-width"
    yield "of the 95 % interval; 1 is linear."
    yield ""
    body = []
    for query in QUERIES:
        told = [query]
        for word in ("off", "ends"):
            found = fit(select(chosen, query=query, tracking=word))
            told.append("too few points" if found is None else _exponent(found))
        body.append(told)
    yield from _table(["query", "without", "with"], body)


def _exponent(found: Any) -> str:
    return f"{found.exponent:.3f} ± {found.error:.3f}"


def _detail(rows: list[Row]) -> Iterator[str]:
    chosen = select(rows, experiment="detail")
    (length,) = lengths(chosen)
    yield "## Ends, steps, rows"
    yield ""
    yield f"Time against an untracked run, {length:,} events: `ends` keeps output to input, `steps`"
    yield "every processor's events; in memory, associations as rules, and spread into rows."
    yield ""
    rest, body = select(rows, experiment="rows"), []
    for query in QUERIES:
        told = [query]
        for group, words in ((chosen, ("ends", "steps")), (rest, ("compact", "rows"))):
            off = rate(select(group, query=query, tracking="off"))
            told += [f"{off / rate(select(group, query=query, tracking=w)):.2f}x" for w in words]
        body.append(told)
    yield from _table(["query", "ends", "steps", "rules in memory", "rows in memory"], body)


def _objects(rows: list[Row]) -> Iterator[str]:
    chosen = select(rows, experiment="objects")
    longest = lengths(chosen)[-1]
    yield "## One event at a time"
    yield ""
    yield f"The interpreter with a tracker of Python objects, {longest:,} events: the nearest to"
    yield "what the paper measured."
    yield ""
    body = []
    for query in QUERIES:
        off, on = (
            select(chosen, query=query, tracking=word, length=longest)
            for word in ("off", "objects")
        )
        told = [_number(rate(off)), _number(rate(on)), f"{rate(off) / rate(on):.2f}x"]
        body.append([query, *told, _number(middle(on, "peak_bytes") / longest)])
    yield from _table(["query", "without", "with", "slowdown", "bytes an event"], body)


def _sizes(rows: list[Row]) -> Iterator[str]:
    chosen = select(rows, experiment="sizes")
    yield "## How many events explain an output"
    yield ""
    yield "The paper says that each output contributes a constant amount of lineage. That holds for"
    yield "a window, and it does not where an answer leans on all cases so far:"
    yield ""
    body = []
    for query in QUERIES:
        for length in lengths(chosen):
            (found,) = select(chosen, query=query, length=length)
            names = ("median", "p99", "largest", "mean")
            told = [_number(found[f"explained_by_{name}"]) for name in names]
            body.append([query, f"{length:,}", *told])
    yield from _table(["query", "events", "median", "99 of 100", "largest", "mean"], body)


def _spark(rows: list[Row]) -> Iterator[str]:
    chosen = select(rows, experiment="spark")
    (length,) = lengths(chosen)
    yield "## On Spark"
    yield ""
    yield f"Events a second, {length:,} events, from a log of the record to a run of the record:"
    yield ""
    body = []
    for master in sorted({row["master"] for row in chosen}):
        for query in QUERIES:
            off, on = (
                select(chosen, query=query, tracking=word, master=master)
                for word in ("off", "ends")
            )
            told = [_number(rate(off)), _number(rate(on)), f"{rate(off) / rate(on):.2f}x"]
            body.append([f"`{master}`", query, *told])
    yield from _table(["master", "query", "without", "with", "slowdown"], body)


def _real(rows: list[Row]) -> Iterator[str]:
    chosen = select(rows, experiment="real")
    yield "## Logs of real processes"
    yield ""
    if not chosen:
        yield "Not measured: the logs were not at hand."
        return
    yield "A rule over every case (`experiments/real.yaml`), `--runner local`:"
    yield ""
    body = []
    for log in sorted({row["log"] for row in chosen}):
        off, on = (select(chosen, log=log, tracking=word) for word in ("off", "ends"))
        length = on[0]["length"]
        told = [f"{length:,}", _number(rate(on)), f"{rate(off) / rate(on):.2f}x"]
        body.append([log, *told, f"{middle(on, 'association_bytes') / length:.2f}"])
    yield from _table(["log", "events", "events/s, tracked", "slowdown", "bytes an event"], body)


def _others(rows: list[Row]) -> Iterator[str]:
    yield "## Other systems"
    yield ""
    yield "Cost of tracking as the paper quotes it; none of these was run by us."
    yield ""
    body = [[s["name"], s["time"], s.get("memory", "")] for s in _cited()["systems"]]
    yield from _table(["system", "time", "memory"], body)


def _limits(rows: list[Row]) -> Iterator[str]:
    chosen = select(rows, experiment="throughput")
    longest = lengths(chosen)[-1]
    slow = {
        query: rate(select(chosen, query=query, tracking="off", length=longest))
        / rate(select(chosen, query=query, tracking="ends", length=longest))
        for query in QUERIES
    }
    best, worst = min(slow, key=slow.__getitem__), max(slow, key=slow.__getitem__)
    yield "## What is better, what is worse, what limits"
    yield ""
    yield f"- Tracking costs least for {best} ({slow[best]:.2f}x) and most for {worst}"
    yield f"  ({slow[worst]:.2f}x) at {longest:,} events."
    yield "- Memory does not grow with the log as long as the number of open cases does not; what"
    yield "  grows is the record. A Slice forgets no case: with ever new cases its state grows too."
    yield "- One event at a time costs what it costs in any interpreter: what is fast is the work"
    yield "  on columns."
