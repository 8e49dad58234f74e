"""Pictures as SVG: layer below layer, without any program beside this one."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from whence.engine.drawing.layers import layers
from whence.engine.drawing.picture import Arrow, Box, Picture

__all__ = ["STYLE", "svg", "visible"]

_CHARACTER, _LINE, _PAD, _GAP, _BETWEEN = 7.2, 16, 8, 18, 46
# Light by attributes, so that a program without CSS draws it too; dark where the reader likes it.
_LOOKS = {
    "output": 'rx="10" fill="#fdf3d8" stroke="#9a6b00" stroke-width="2"',
    "step": 'rx="3" fill="#f4f5f7" stroke="#5b6470"',
    "input": 'rx="0" fill="#e3eefb" stroke="#2b5d94"',
    "rest": 'rx="3" fill="none" stroke="#8a929c" stroke-dasharray="4 3"',
}
_LINES = "#717b88"
"""Colours of arrows and their labels, readable on white and on black."""
STYLE = (
    "svg.whence text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#1c2127}"
    f"svg.whence text.e{{fill:{_LINES}}}"
    "@media (prefers-color-scheme:dark){svg.whence text{fill:#e8eaed}"
    "svg.whence .output>rect{fill:#43350f;stroke:#e0b040}"
    "svg.whence .step>rect{fill:#2a2e34;stroke:#8a929c}"
    "svg.whence .input>rect{fill:#16304d;stroke:#6ea8e6}}"
)
"""What every drawing looks like; for drawings inside a page as well as on their own."""


def svg(picture: Picture, *, inside: bool = False, buttons: Collection[str] = ()) -> str:
    """Write a picture as an SVG document; the text in it can be searched and copied.

    Args:
        picture: what to draw.
        inside: it stands in a page whose own style sheet says how boxes (``.box``, with their
            kind) and arrows look, so it carries no style of its own.
        buttons: the ids of boxes that can be pressed, with the keyboard as well.

    >>> drawn = svg(Picture("why", (Box("a", ("all@1 <",), "output"),)))
    >>> "<title>why</title>" in drawn and "all@1 &lt;" in drawn
    True
    """
    drawn = _layout(picture)
    width, height = max(drawn.width, 2 * _GAP), max(drawn.height, 2 * _GAP)
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="whence" width="{width:.0f}" '
        f'height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" role="img">',
        f"<title>{visible(picture.title)}</title>",
        "" if inside else f"<style>{STYLE}</style>",
        '<defs><marker id="to" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
        f'markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="{_LINES}"/></marker></defs>',
    ]
    return "\n".join([*head, *_lines(drawn, 0, 0, buttons), "</svg>"]) + "\n"


@dataclass(frozen=True)
class _Layout:
    """A picture with its size, and the place of each box."""

    picture: Picture
    width: float
    height: float
    places: dict[str, tuple[float, float]]
    sizes: dict[str, tuple[float, float]]
    inside: dict[str, _Layout]


def _layout(picture: Picture) -> _Layout:
    rows = layers(picture)
    inside = {box.id: _layout(box.inside) for box in picture.boxes if box.inside}
    sizes = {box.id: _size(box, inside.get(box.id)) for box in picture.boxes}
    widths = [sum(sizes[b.id][0] for b in row) + _GAP * (len(row) - 1) for row in rows]
    width = max(widths, default=0) + 2 * _GAP
    places: dict[str, tuple[float, float]] = {}
    y = float(_GAP)
    for row, wide in zip(rows, widths, strict=True):
        x = (width - wide) / 2
        for box in row:
            places[box.id] = (x, y)
            x += sizes[box.id][0] + _GAP
        y += max(sizes[box.id][1] for box in row) + _BETWEEN
    return _Layout(picture, width, y - _BETWEEN + _GAP, places, sizes, inside)


def _size(box: Box, inside: _Layout | None) -> tuple[float, float]:
    longest = max((len(line) for line in box.lines), default=1)
    width, height = longest * _CHARACTER + 2 * _PAD, float(len(box.lines) * _LINE + _PAD + 4)
    return (width, height) if inside is None else (max(width, inside.width), height + inside.height)


def _lines(drawn: _Layout, left: float, top: float, buttons: Collection[str] = ()) -> Iterator[str]:
    """The boxes and what is in them, then the arrows."""
    for box in drawn.picture.boxes:
        (x, y), (wide, high) = drawn.places[box.id], drawn.sizes[box.id]
        x, y = x + left, y + top
        yield f'<g class="box {box.kind}"{_button(box, buttons)}>'
        yield (
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.0f}" '
            f"{_LOOKS[box.kind]}/>"
        )
        for number, line in enumerate(box.lines):
            at = y + _PAD + 12 + number * _LINE
            faint = ' class="e"' if box.kind == "rest" else ""
            yield f'<text{faint} x="{x + _PAD:.1f}" y="{at:.1f}">{visible(line)}</text>'
        if box.id in drawn.inside:
            inner = drawn.inside[box.id]
            yield from _lines(inner, x + (wide - inner.width) / 2, y + high - inner.height)
        yield "</g>"
    for arrow in drawn.picture.arrows:
        yield from _arrow(drawn, arrow, left, top)


def _button(box: Box, buttons: Collection[str]) -> str:
    if box.id not in buttons:
        return ""
    name = quoteattr(_plain(" ".join(box.lines)))
    id = quoteattr(box.id, {chr(c): f"&#{c};" for c in (9, 10, 13)})
    return f' data-box={id} role="button" tabindex="0" aria-label={name}'


def _arrow(drawn: _Layout, arrow: Arrow, left: float, top: float) -> Iterator[str]:
    (x1, y1), (w1, h1) = drawn.places[arrow.source], drawn.sizes[arrow.source]
    (x2, y2), (w2, _) = drawn.places[arrow.target], drawn.sizes[arrow.target]
    a, b, c, d = x1 + w1 / 2 + left, y1 + h1 + top, x2 + w2 / 2 + left, y2 + top
    middle = (b + d) / 2
    yield (
        f'<path d="M{a:.1f} {b:.1f}C{a:.1f} {middle:.1f} {c:.1f} {middle:.1f} {c:.1f} '
        f'{d:.1f}" class="arrow" fill="none" stroke="{_LINES}" marker-end="url(#to)"/>'
    )
    if arrow.text:
        # Beside the last quarter of the curve, where it is steep and apart from its neighbours.
        x, y = 0.15625 * a + 0.84375 * c, 0.015625 * b + 0.5625 * middle + 0.421875 * d
        yield (f'<text class="e" x="{x + 5:.1f}" y="{y + 4:.1f}">{visible(arrow.text)}</text>')


def visible(text: str) -> str:
    """What XML may hold: control characters are shown as a replacement."""
    return escape(_plain(text))


def _plain(text: str) -> str:
    return "".join(c if c.isprintable() else "\ufffd" for c in text)
