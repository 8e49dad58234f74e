"""A timeline: what of a log is lit, as a strip over all of its events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from whence.engine.drawing.svg import STYLE, visible
from whence.engine.lineage.positions import Intervals

__all__ = ["Lane", "Light", "Mark", "Timeline", "timeline"]

Light = Literal["strong", "soft", "safe"]
"""How a mark looks: a reason, what may matter, what certainly holds or never matters."""

_WIDTH, _LEFT, _BAR, _ROW = 720, 8, 14, 16
_LABELS = 8
_CHARACTER = 7.2
_FILLS = {"strong": "#d97a06", "soft": "#8fb6e3", "safe": "#3f9d62"}
_DARK = (
    "@media (prefers-color-scheme:dark){svg.whence .bar{fill:#3a3f46}"
    "svg.whence .soft{fill:#3f6fa8}svg.whence .strong{fill:#f0a13c}svg.whence .safe{fill:#58b97c}}"
)


@dataclass(frozen=True)
class Mark:
    """Positions that are lit.

    Attributes:
        ranges: the positions.
        light: how they look.
        labels: the labels below some of them, by position.
    """

    ranges: Intervals
    light: Light = "strong"
    labels: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True)
class Lane:
    """A log, or an output pipe, from its first event to its last.

    Attributes:
        name: what it is called.
        length: how many events it has.
        marks: what is lit; later ones lie over earlier ones.
    """

    name: str
    length: int
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True)
class Timeline:
    """Lanes one below the other.

    Attributes:
        title: what it shows, for readers that cannot see it.
        lanes: the lanes.
    """

    title: str
    lanes: tuple[Lane, ...]


def timeline(shown: Timeline) -> str:
    """Draw a timeline as SVG; however many ranges are lit, it stays as wide as a page.

    >>> lane = Lane("log", 100, (Mark(((3, 3), (50, 99))),))
    >>> drawn = timeline(Timeline("what matters", (lane,)))
    >>> drawn.count('class="strong"'), "what matters" in drawn
    (2, True)
    """
    rows: list[str] = []
    y = 4.0
    for lane in shown.lanes:
        drawn = list(_lane(lane, y))
        rows += drawn
        y += _ROW + _BAR + _ROW + (_ROW if any(m.labels for m in lane.marks) else 0) + 6
    width = _WIDTH + 2 * _LEFT
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="whence" width="{width}" '
        f'height="{y:.0f}" viewBox="0 0 {width} {y:.0f}" role="img" '
        'style="max-width:100%;height:auto">',
        f"<title>{visible(shown.title)}</title>",
        f"<style>{STYLE}{_DARK}</style>",
    ]
    return "\n".join([*head, *rows, "</svg>"]) + "\n"


def _lane(lane: Lane, top: float) -> Iterator[str]:
    many = "1 event" if lane.length == 1 else f"{lane.length:,} events"
    yield _text(_LEFT, top + 11, f"{lane.name}: {many}")
    bar = top + _ROW
    yield (
        f'<rect class="bar" x="{_LEFT}" y="{bar:.1f}" width="{_WIDTH}" height="{_BAR}" '
        'fill="#e1e4e8"/>'
    )
    for mark in lane.marks:
        for x, wide in _pixels(mark.ranges, lane.length):
            yield (
                f'<rect class="{mark.light}" x="{x:.1f}" y="{bar:.1f}" width="{wide:.1f}" '
                f'height="{_BAR}" fill="{_FILLS[mark.light]}"/>'
            )
    below = bar + _BAR + 12
    labels = [label for mark in lane.marks for label in mark.labels]
    if labels:
        yield from _labels(labels[:_LABELS], lane.length, below)
        below += _ROW
    if lane.length:
        yield _text(_LEFT, below, "0")
        yield _text(_LEFT + _WIDTH, below, f"{lane.length - 1:,}", ' text-anchor="end"')


def _pixels(ranges: Intervals, length: int) -> Iterator[tuple[float, float]]:
    """Where ranges are on the strip; what is nearer than half a pixel is drawn as one."""
    scale = _WIDTH / max(length, 1)
    begun: tuple[float, float] | None = None
    for lo, hi in sorted(ranges):
        x = _LEFT + lo * scale
        end = max(_LEFT + (hi + 1) * scale, x + 2)
        if begun is not None and x <= begun[1] + 0.5:
            begun = (begun[0], max(begun[1], end))
            continue
        if begun is not None:
            yield begun[0], begun[1] - begun[0]
        begun = (x, end)
    if begun is not None:
        yield begun[0], begun[1] - begun[0]


def _labels(labels: Sequence[tuple[int, str]], length: int, y: float) -> Iterator[str]:
    """As many labels as have room, from the left."""
    free = float(_LEFT)
    for position, text in sorted(labels):
        wide = len(text) * _CHARACTER
        x = _LEFT + (position + 0.5) * _WIDTH / max(length, 1)
        start = min(max(x - wide / 2, _LEFT), _LEFT + _WIDTH - wide)
        if start < free:
            continue
        free = start + wide + _CHARACTER
        yield _text(start, y, text)


def _text(x: float, y: float, text: str, more: str = "") -> str:
    return f'<text class="e" x="{x:.1f}" y="{y:.1f}"{more}>{visible(text)}</text>'
