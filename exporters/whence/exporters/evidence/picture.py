"""A picture of an explanation: input events, the processors between, and the output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

__all__ = ["Box", "Picture", "picture_of", "svg"]

_MOST = 12
_WIDTH, _HEIGHT, _GAP = 190, 34, 10
_BETWEEN = 70


@dataclass(frozen=True)
class Box:
    """A box with text, its upper left corner and what it represents."""

    x: int
    y: int
    text: str
    kind: str


@dataclass(frozen=True)
class Picture:
    """Boxes, and which of them an arrow joins, by number."""

    width: int
    height: int
    boxes: tuple[Box, ...]
    arrows: tuple[tuple[int, int], ...]

    @staticmethod
    def size() -> tuple[int, int]:
        """Width and height of a box."""
        return _WIDTH, _HEIGHT


def picture_of(inputs: Sequence[str], processors: Sequence[str], output: str) -> Picture:
    """Lay out an explanation, from the input events on the left to the output on the right.

    Args:
        inputs: what the input events are called; many are cut, and the number of the rest is shown.
        processors: the processors on the way, in order.
        output: what the output is called.
    """
    shown = list(inputs[:_MOST])
    if len(inputs) > _MOST:
        shown.append(f"… {len(inputs) - _MOST:,} more")
    rows = max(len(shown), 1)
    height = rows * (_HEIGHT + _GAP) + _GAP
    middle = (height - _HEIGHT) // 2
    boxes = [Box(_GAP, _GAP + n * (_HEIGHT + _GAP), text, "input") for n, text in enumerate(shown)]
    column = _GAP + _WIDTH + _BETWEEN
    for name in processors:
        boxes.append(Box(column, middle, name, "processor"))
        column += _WIDTH + _BETWEEN
    boxes.append(Box(column, middle, output, "output"))
    first = len(shown)
    arrows = [(n, first) for n in range(len(shown))]
    arrows += [(n, n + 1) for n in range(first, len(boxes) - 1)]
    return Picture(column + _WIDTH + _GAP, height, tuple(boxes), tuple(arrows))


def svg(picture: Picture) -> str:
    colors = {"input": "#e8f0fa", "processor": "#f4f4f4", "output": "#fdeccd"}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {picture.width} {picture.height}" '
        f'width="{picture.width}" height="{picture.height}" role="img" '
        'aria-label="Explanation" font-family="sans-serif" font-size="12">'
    ]
    for start, end in picture.arrows:
        a, b = picture.boxes[start], picture.boxes[end]
        parts.append(
            f'<line x1="{a.x + _WIDTH}" y1="{a.y + _HEIGHT // 2}" x2="{b.x}" '
            f'y2="{b.y + _HEIGHT // 2}" stroke="#555"/>'
        )
    for box in picture.boxes:
        corner = 12 if box.kind == "processor" else 3
        parts.append(
            f'<rect x="{box.x}" y="{box.y}" width="{_WIDTH}" height="{_HEIGHT}" rx="{corner}" '
            f'fill="{colors[box.kind]}" stroke="#555"/>'
        )
        parts.append(f'<text x="{box.x + 8}" y="{box.y + 21}">{escape(_cut(box.text))}</text>')
    return "\n".join([*parts, "</svg>\n"])


def _cut(text: str) -> str:
    return text if len(text) <= 27 else text[:26] + "…"
