"""The same report as PDF, with fixed dates: the same report has the same bytes."""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from whence.engine.errors import MissingExtraError
from whence.exporters.evidence.page import Report, Section
from whence.exporters.evidence.picture import Picture

__all__ = ["pdf"]

_MARGIN, _SIZE, _SMALL = 50, 9.5, 8
_SPACE = 1.37
"""From line to line, in letters."""
_BETWEEN = 10
"""Room between two columns."""
_TOGETHER = 60
"""Minimum room for content after a title at the foot of a page."""
_LOOKED = 200
"""Rows of a table whose cells are measured."""
_FONT, _BOLD = "Helvetica", "Helvetica-Bold"


def pdf(report: Report, picture: Picture) -> bytes:
    """The report as pages of A4."""
    try:
        from reportlab.lib.pagesizes import A4
        from reportlab.pdfgen.canvas import Canvas
    except ImportError as error:
        raise MissingExtraError.for_extra("evidence", "reportlab") from error
    made = io.BytesIO()
    canvas = Canvas(made, pagesize=A4, invariant=1, pageCompression=0)
    canvas.setTitle(report.title)
    canvas.setAuthor("Whence")
    width, height = A4
    pages = _Pages(canvas, width, height, report.title)
    pages.text(report.title, 15, _BOLD)
    for section in report.sections:
        _section(pages, section, picture)
    pages.end()
    canvas.save()
    return made.getvalue()


def _section(pages: _Pages, section: Section, picture: Picture) -> None:
    pages.skip(10)
    pages.keep(_TOGETHER)
    pages.text(section.title, 11.5, _BOLD)
    for each in section.paragraphs:
        pages.text(each)
        pages.skip(3)
    if section.picture:
        pages.draw(picture)
    if section.columns:
        pages.table(section.columns, section.rows)


class _Pages:
    """Lines from the top of a page to its foot, then on the next one."""

    def __init__(self, canvas: Any, width: float, height: float, title: str) -> None:
        self._canvas, self._width, self._height = canvas, width, height
        self._title = title
        self._y = height - _MARGIN
        self._number = 1

    @property
    def _across(self) -> float:
        return self._width - 2 * _MARGIN

    def skip(self, points: float) -> None:
        self._y -= points

    def keep(self, points: float) -> None:
        """Continue on the next page unless there is this much room."""
        if self._y - points < _MARGIN:
            self.end()

    def text(self, text: str, size: float = _SIZE, font: str = _FONT) -> None:
        for line in self._wrapped(_printable(text), size, font, self._across):
            self._line([(_MARGIN, line)], size, font)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """A table whose cells are wrapped; each of its pages repeats the head."""
        cells = [[_printable(cell) for cell in row] for row in rows]
        widths = self._widths([_printable(name) for name in columns], cells)
        starts = [_MARGIN + sum(widths[:n]) for n in range(len(widths))]

        def lines(row: Sequence[str], font: str) -> list[list[tuple[float, str]]]:
            several = [
                self._wrapped(cell, _SMALL, font, width - _BETWEEN)
                for cell, width in zip(row, widths, strict=True)
            ]
            return [
                list(zip(starts, line, strict=True)) for line in zip_longest(*several, fillvalue="")
            ]

        def put(row: Sequence[str], font: str) -> None:
            for line in lines(row, font):
                self._line(line, _SMALL, font)
            self._rule()

        put(columns, _BOLD)
        for row in cells:
            page, high = self._number, len(lines(row, _FONT)) * _SMALL * _SPACE + 4
            self.keep(min(high, self._height / 2))
            if self._number != page:
                put(columns, _BOLD)
            put(row, _FONT)
        self.skip(4)

    def _widths(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[float]:
        """As wide as the cells want; those that want more than their share, share what is left."""
        wanted = [
            max(
                self._wide(name, _SMALL, _BOLD),
                *(self._wide(row[n], _SMALL, _FONT) for row in rows[:_LOOKED]),
                0.0,
            )
            + _BETWEEN
            for n, name in enumerate(columns)
        ]
        left, widths = self._across, [0.0] * len(wanted)
        for done, (want, n) in enumerate(sorted(zip(wanted, range(len(wanted)), strict=True))):
            widths[n] = min(want, left / (len(wanted) - done))
            left -= widths[n]
        return widths

    def _line(self, pieces: Sequence[tuple[float, str]], size: float, font: str) -> None:
        self._room(size * _SPACE)
        self._canvas.setFont(font, size)
        for x, text in pieces:
            self._canvas.drawString(x, self._y, text)

    def _rule(self) -> None:
        self.skip(3)
        self._canvas.setStrokeGray(0.75)
        self._canvas.setLineWidth(0.4)
        self._canvas.line(_MARGIN, self._y, self._width - _MARGIN, self._y)
        self._canvas.setStrokeGray(0)
        self._canvas.setLineWidth(1)
        self.skip(1)

    def draw(self, picture: Picture) -> None:
        width, height = Picture.size()
        scale = min(1.0, (self._width - 2 * _MARGIN) / picture.width)
        self._room(picture.height * scale + 10)
        canvas = self._canvas
        canvas.saveState()
        canvas.translate(_MARGIN, self._y)
        canvas.scale(scale, scale)
        canvas.setFont(_FONT, 11)
        for start, end in picture.arrows:
            a, b = picture.boxes[start], picture.boxes[end]
            ends = (picture.height - each.y - height / 2 for each in (a, b))
            canvas.line(a.x + width, next(ends), b.x, next(ends))
        for box in picture.boxes:
            canvas.setFillGray(1)
            canvas.rect(box.x, picture.height - box.y - height, width, height, stroke=1, fill=1)
            canvas.setFillGray(0)
            text = _printable(box.text)
            shown = text if len(text) <= 29 else text[:26] + "..."
            canvas.drawString(box.x + 8, picture.height - box.y - 21, shown)
        canvas.restoreState()

    def end(self) -> None:
        self._canvas.setFont(_FONT, _SMALL)
        (title, *_) = self._wrapped(_printable(self._title), _SMALL, _FONT, self._across - 40)
        self._canvas.drawString(_MARGIN, _MARGIN / 2, title)
        self._canvas.drawRightString(self._width - _MARGIN, _MARGIN / 2, f"page {self._number}")
        self._canvas.showPage()
        self._number += 1
        self._y = self._height - _MARGIN

    def _room(self, points: float) -> None:
        if self._y - points < _MARGIN:
            self.end()
        self._y -= points

    def _wrapped(self, text: str, size: float, font: str, room: float) -> list[str]:
        """Lines that fit; words that do not are broken."""
        lines, line = [], ""
        for word in text.split(" "):
            while self._wide(f"{line} {word}".strip(), size, font) > room:
                if line:
                    lines.append(line)
                    line = ""
                    continue
                fits = len(word)
                while fits > 1 and self._wide(word[:fits], size, font) > room:
                    fits = fits * 9 // 10
                lines.append(word[:fits])
                word = word[fits:]
            line = f"{line} {word}".strip()
        return [*lines, line]

    def _wide(self, text: str, size: float, font: str) -> float:
        return float(self._canvas.stringWidth(text, font, size))


def _printable(text: str) -> str:
    """What the fonts of every PDF reader have; anything else is shown as its code point."""
    return "".join(
        each
        if each.isprintable() and each.encode("cp1252", "ignore")
        else "..."
        if each == "…"
        else f"\\u{ord(each):04x}"
        for each in text
    )
