"""The same report as PDF, with fixed dates: the same report has the same bytes."""

from __future__ import annotations

import io
from typing import Any

from whence.engine.errors import MissingExtraError
from whence.exporters.evidence.page import Report, Section
from whence.exporters.evidence.picture import Picture

__all__ = ["pdf"]

_MARGIN, _SIZE, _LEADING = 50, 9.5, 13
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
    pages = _Pages(canvas, *A4)
    pages.text(report.title, 15, _BOLD)
    for section in report.sections:
        _section(pages, section, picture)
    pages.end()
    canvas.save()
    return made.getvalue()


def _section(pages: _Pages, section: Section, picture: Picture) -> None:
    pages.skip(10)
    pages.text(section.title, 11.5, _BOLD)
    for each in section.paragraphs:
        pages.text(each)
        pages.skip(3)
    if section.picture:
        pages.draw(picture)
    if section.columns:
        pages.text(" | ".join(section.columns), _SIZE, _BOLD)
        for row in section.rows:
            pages.text(" | ".join(row), 8.5)


class _Pages:
    """Lines from the top of a page to its foot, then on the next one."""

    def __init__(self, canvas: Any, width: float, height: float) -> None:
        self._canvas, self._width, self._height = canvas, width, height
        self._y = height - _MARGIN
        self._number = 1

    def skip(self, points: float) -> None:
        self._y -= points

    def text(self, text: str, size: float = _SIZE, font: str = _FONT) -> None:
        for line in self._wrapped(_printable(text), size, font):
            self._room(size * 1.37)
            self._canvas.setFont(font, size)
            self._canvas.drawString(_MARGIN, self._y, line)

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
        self._canvas.setFont(_FONT, 8)
        self._canvas.drawRightString(self._width - _MARGIN, _MARGIN / 2, str(self._number))
        self._canvas.showPage()
        self._number += 1
        self._y = self._height - _MARGIN

    def _room(self, points: float) -> None:
        if self._y - points < _MARGIN:
            self.end()
        self._y -= points

    def _wrapped(self, text: str, size: float, font: str) -> list[str]:
        """Lines that fit; words that do not are broken."""
        room = self._width - 2 * _MARGIN
        lines, line = [], ""
        for word in text.split(" "):
            while self._wide(f"{line} {word}".strip(), size, font) > room:
                if line:
                    lines.append(line)
                    line = ""
                    continue
                fits = len(word)
                while self._wide(word[:fits], size, font) > room:
                    fits = fits * 9 // 10
                lines.append(word[:fits])
                word = word[fits:]
            line = f"{line} {word}".strip()
        return [*lines, line]

    def _wide(self, text: str, size: float, font: str) -> float:
        return float(self._canvas.stringWidth(text, font, size))


def _printable(text: str) -> str:
    """What the fonts of every PDF reader have; anything else is told by its number."""
    return "".join(
        each
        if each.isprintable() and each.encode("cp1252", "ignore")
        else "..."
        if each == "…"
        else f"\\u{ord(each):04x}"
        for each in text
    )
