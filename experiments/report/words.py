"""How the page says things: tables, numbers, and that something is not measured yet."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from experiments.figures import Cost, Fit, Row, select
from experiments.plan import Cell, Experiment, cells, declared
from experiments.settings import settings_of

__all__ = [
    "MISSING", "NOT_YET", "QUERIES", "Section", "by_query", "cited", "costs", "exponent", "number",
    "paragraph", "section", "share", "table", "times", "told_table",
]  # fmt: skip

QUERIES = ("window", "lifecycle", "ltl")
MISSING = "·"
NOT_YET = "Not measured yet."
OURS_NOT_YET = "Ours: not measured yet."
CITED = Path(__file__).parent.parent / "cited.yaml"
WIDTH = 100

Section = Callable[[list[Row]], Iterator[str]]


def section(
    title: str, experiment: str, *, asks: bool = True, cites: bool = False
) -> Callable[[Section], Section]:
    """A section about one experiment: its title, its question, and whether it is complete.

    Args:
        title: the heading.
        experiment: whose rows it is given; without any it says so.
        asks: whether the question is printed; of several sections about one experiment, one does.
        cites: whether it has content without rows: what others published.
    """

    def wrap(tell: Section) -> Section:
        def told(rows: list[Row]) -> Iterator[str]:
            chosen = select(rows, experiment=experiment)
            yield title
            yield ""
            if asks:
                yield from paragraph(_question(experiment))
                yield ""
            if chosen or cites:
                yield from tell(rows)
            if chosen:
                yield from _notes(experiment, chosen)
                return
            if cites:
                yield ""
            yield OURS_NOT_YET if cites else NOT_YET

        return told

    return wrap


def _notes(experiment: str, chosen: list[Row]) -> Iterator[str]:
    """What has to be said of the rows: some are missing, or they come from several machines."""
    keys = {row["key"] for row in chosen}
    wanted = {cell.key for cell in _planned() if cell.experiment == experiment}
    if absent := len(wanted - keys):
        yield ""
        yield f"Not complete: {absent:,} of {len(wanted):,} cells are not measured yet."
    settings = settings_of(chosen)
    if len(settings) > 1:
        told = "; ".join(f"commit {each[-1]} on {each[0]}: {n}" for each, n in settings.items())
        yield ""
        yield from paragraph(
            f"Mixed: these rows were measured in {len(settings)} settings ({told}); compare them "
            "with care."
        )


@cache
def _declared() -> tuple[int, list[Experiment]]:
    return declared()


@cache
def _planned() -> list[Cell]:
    seed, experiments = _declared()
    return list(cells(experiments, seed))


def _question(name: str) -> str:
    return next(e.question for e in _declared()[1] if e.name == name)


@cache
def cited() -> dict[str, Any]:
    """What others published."""
    told: dict[str, Any] = yaml.safe_load(CITED.read_text(encoding="utf-8"))
    return told


def paragraph(text: str, indent: str = "") -> Iterator[str]:
    """Lines of one paragraph."""
    yield from textwrap.wrap(
        " ".join(text.split()),
        WIDTH,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def table(heads: list[str], body: Iterable[list[str]]) -> Iterator[str]:
    yield "| " + " | ".join(heads) + " |"
    yield "|" + "---|" * len(heads)
    for each in body:
        yield "| " + " | ".join(each) + " |"


def told_table(text: str, heads: list[str], body: Iterable[list[str]]) -> Iterator[str]:
    """A paragraph, and the table that it is about."""
    yield from paragraph(text)
    yield ""
    yield from table(heads, body)


def by_query(rows: list[Row], tell: Callable[[list[Row]], list[str]]) -> list[list[str]]:
    """A line for each query that has rows: its name, and the report on them."""
    found = {query: select(rows, query=query) for query in QUERIES}
    return [[query, *tell(own)] for query, own in found.items() if own]


def number(value: float | None) -> str:
    """Three digits that count.

    >>> number(1234567.0), number(0.1234), number(12.0), number(None), number(0.0)
    ('1,230,000', '0.123', '12.0', '·', '0')
    """
    if value is None:
        return MISSING
    if abs(value) >= 100:
        digits = 10 ** (len(str(int(abs(value)))) - 3)
        return f"{round(value / digits) * digits:,}"
    return f"{value:.3g}" if abs(value) < 10 else f"{value:.1f}"


def times(value: float | None) -> str:
    """How many times as much.

    >>> times(1.5), times(None)
    ('1.50x', '·')
    """
    return MISSING if value is None else f"{value:.2f}x"


def costs(told: Cost) -> list[str]:
    """Events a second without and with tracking, and the slowdown."""
    return [number(told.without), number(told.tracked), times(told.times)]


def share(part: float, whole: float) -> str:
    """In per cent; a part of nothing is not there.

    >>> share(1, 3), share(0, 0)
    ('33.3 %', '·')
    """
    return f"{100 * part / whole:.1f} %" if whole else MISSING


def exponent(found: Fit | None) -> str:
    """An exponent with its error."""
    return "too few points" if found is None else f"{found.exponent:.3f} ± {found.error:.3f}"
