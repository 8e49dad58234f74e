"""What a notebook shows of a result: text, tables and drawings as one piece of static HTML.

No script, nothing loaded, every value escaped. Colours of text are the notebook's own, so that it
reads in light and in dark.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from whence.engine.drawing.picture import Picture
from whence.engine.drawing.svg import svg, visible
from whence.engine.lineage.words import value_text

__all__ = ["bundle", "cell", "cell_of_picture", "details", "line", "table"]

_CELL = 'class="whence-cell" style="overflow-x:auto;max-width:100%;line-height:1.45"'
_TABLE = 'style="border-collapse:collapse;font-size:90%;margin:.4em 0"'
_EDGE = "border-bottom:1px solid rgba(128,128,128,.35);padding:.15em .8em .15em 0"
_HEAD = f'style="text-align:left;font-weight:600;{_EDGE}"'
_DATA = f'style="text-align:left;white-space:nowrap;{_EDGE}"'


def bundle(html: str, plain: str) -> dict[str, str]:
    """What ``_repr_mimebundle_`` returns."""
    return {"text/html": html, "text/plain": plain}


def cell(*parts: str) -> str:
    """Put parts together, one below the other."""
    return f"<div {_CELL}>\n" + "\n".join(parts) + "\n</div>"


def cell_of_picture(picture: Picture) -> str:
    """A drawing alone."""
    return cell(svg(picture))


def line(text: str, *, strong: bool = False) -> str:
    """A line of text.

    >>> line("a < b", strong=True)
    '<div><b>a &lt; b</b></div>'
    """
    shown = visible(text)
    return f"<div><b>{shown}</b></div>" if strong else f"<div>{shown}</div>"


def table(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows as a table; columns that no row has anything in are left out."""
    kept = list(rows)
    used = [name for name in columns if any(row.get(name) is not None for row in kept)]
    head = "".join(f"<th {_HEAD}>{visible(name)}</th>" for name in used)
    body = "\n".join(
        "<tr>" + "".join(f"<td {_DATA}>{_data(row.get(name))}</td>" for name in used) + "</tr>"
        for row in kept
    )
    return f"<table {_TABLE}>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table>"


def details(summary: str, inner: str, *, open: bool = False) -> str:
    """A collapsed part that opens on a click; without any script."""
    state = " open" if open else ""
    return f"<details{state}><summary>{visible(summary)}</summary>\n{inner}\n</details>"


def _data(value: Any) -> str:
    if value is None:
        return ""
    return visible(f"{value:,}" if type(value) is int else value_text(value))
