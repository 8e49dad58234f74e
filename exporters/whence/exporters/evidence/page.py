"""A report as sections of paragraphs and tables; the page and the print are drawn from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

__all__ = ["Report", "Section", "html_page"]

_STYLE = """
body { font: 11pt/1.45 Georgia, serif; max-width: 46em; margin: 2em auto; padding: 0 1em;
  color: #111; }
h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin-top: 1.6em; }
table { border-collapse: collapse; width: 100%; font-size: 0.86em; }
th, td { border-bottom: 1px solid #bbb; text-align: left; padding: 0.25em 0.6em 0.25em 0;
  vertical-align: top; }
.long { overflow-wrap: anywhere; min-width: 9em; }
p { overflow-wrap: anywhere; }
svg { max-width: 100%; height: auto; }
@media print { body { margin: 0; max-width: none; } tr, h2 { break-inside: avoid; }
  h2 { break-after: avoid; } @page { margin: 18mm; } }
""".strip()


_BROKEN = ' class="long"'
_LONG = 24
"""Letters of a word that may be broken."""


@dataclass(frozen=True)
class Section:
    """A part of a report.

    Attributes:
        title: what it is about.
        paragraphs: its text.
        columns: the columns of its table, if it has one.
        rows: the rows of that table.
        picture: whether it shows the picture of the explanation.
    """

    title: str
    paragraphs: Sequence[str] = ()
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    picture: bool = False


@dataclass(frozen=True)
class Report:
    """A report: its title and its sections."""

    title: str
    sections: Sequence[Section]


def html_page(report: Report, picture: str) -> str:
    """The report as one page that needs nothing else, and prints well.

    Args:
        report: its contents.
        picture: the picture of the explanation, as SVG.
    """
    parts = [
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f"<title>{escape(report.title)}</title>",
        f"<style>\n{_STYLE}\n</style>\n</head>\n<body>\n<h1>{escape(report.title)}</h1>",
    ]
    for section in report.sections:
        parts.append(f"<h2>{escape(section.title)}</h2>")
        parts += [f"<p>{escape(each)}</p>" for each in section.paragraphs]
        if section.picture:
            parts.append(picture)
        if section.columns:
            parts.append(_table(section))
    return "\n".join([*parts, "</body>\n</html>\n"])


def _table(section: Section) -> str:
    head = "".join(_cell("th", each) for each in section.columns)
    rows = ["<tr>" + "".join(_cell("td", each) for each in row) + "</tr>" for row in section.rows]
    return "\n".join([f"<table>\n<tr>{head}</tr>", *rows, "</table>"])


def _cell(tag: str, text: str) -> str:
    """A cell; only where a word is too long for a column, as a digest is, it may be broken."""
    is_long = any(len(word) > _LONG for word in text.split())
    return f"<{tag}{_BROKEN if is_long else ''}>{escape(text)}</{tag}>"
