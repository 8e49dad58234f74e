"""What several views are made of: tables, and the fields of forms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from whence.web.html import Html, Inside, el

__all__ = ["field", "search_field", "table"]


def table(
    columns: Sequence[Inside], rows: Iterable[Html], label: str, numbers: Sequence[int] = ()
) -> Html:
    """A table that scrolls by itself where it is wider than the window, by keyboard as well.

    Args:
        columns: their headers.
        rows: the rows.
        label: what it shows, for readers that cannot see it.
        numbers: which columns hold numbers, and are right-aligned.
    """
    heads = [
        el("th", words, scope="col", class_="n" if place in numbers else None)
        for place, words in enumerate(columns)
    ]
    made = el("table", el("thead", el("tr", heads)), el("tbody", rows))
    return el("div", made, class_="wide", tabindex="0", role="region", aria_label=label)


def field(
    words: str, name: str, value: str, hint: str, *, kind: str = "text", short: bool = False
) -> Html:
    """A field of a form with its label."""
    made = el(
        "input",
        type=kind,
        name=name,
        value=value,
        placeholder=hint,
        spellcheck="false",
        class_="short" if short else None,
        data_key="/" if kind == "search" else None,
    )
    return el("label", words, made)


def search_field(value: str, hint: str) -> Html:
    """The field that the key ``/`` focuses."""
    return field("Search", "search", value, hint, kind="search")
