"""Strips over the length of a log: where events lie, however many there are.

A strip is at most `COLUMNS` columns wide. Where several events fall into one column, the column is
as strong as the share of its events that are meant; one event of a million is still seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whence.engine.lineage.positions import Intervals
from whence.web.html import Html, el, raw

__all__ = ["COLUMNS", "Lane", "density", "strip"]

COLUMNS = 1000
HIGH, GAP, MARGIN = 26, 4, 4
LIGHTS = 80
"""So few events are drawn one by one, as lights with links."""


@dataclass(frozen=True)
class Lane:
    """One row of a strip.

    Attributes:
        name: what it shows, for the legend and for readers that cannot see it.
        kind: how it looks: a class of the style sheet.
        ranges: the positions.
    """

    name: str
    kind: str
    ranges: Intervals


def density(ranges: Intervals, length: int, columns: int = COLUMNS) -> NDArray[np.float64]:
    """The share of each column's positions that are among some ranges.

    >>> density(((0, 4), (9, 9)), 10, 5).tolist()
    [1.0, 1.0, 0.5, 0.0, 0.5]
    """
    columns = max(1, min(columns, length))
    edges = np.linspace(0, length, columns + 1)
    starts = np.array([lo for lo, _ in ranges], dtype=np.float64)
    ends = np.array([hi + 1 for _, hi in ranges], dtype=np.float64)
    sizes = np.concatenate([[0.0], np.cumsum(ends - starts)])

    def before(at: NDArray[np.float64]) -> NDArray[np.float64]:
        """How many of the positions are below each place."""
        begun = np.searchsorted(starts, at, side="right")
        done = sizes[begun]
        over = np.zeros_like(at)
        within = begun > 0
        over[within] = np.maximum(ends[begun[within] - 1] - at[within], 0.0)
        return np.asarray(done - over)

    if not len(starts):
        return np.zeros(columns)
    return np.asarray(np.diff(before(edges)) / np.diff(edges))


def strip(
    title: str,
    length: int,
    lanes: Sequence[Lane],
    *,
    ends: tuple[str, str] | None = None,
    lights: Iterable[tuple[int, str]] = (),
    moment: int | None = None,
) -> Html:
    """Draw lanes over a log of some length.

    Args:
        title: what it shows.
        length: how many events the log has.
        lanes: the rows, the uppermost first.
        ends: the labels of the left and right end; positions if not given.
        lights: positions with their names, drawn as lights on the uppermost lane.
        moment: a position that is marked: when the output appeared.
    """
    whole = HIGH * len(lanes) - GAP
    drawn: list[str] = []
    for row, lane in enumerate(lanes):
        y = row * HIGH + MARGIN
        drawn.append(f'<rect class="lane" x="0" y="{y}" width="100%" height="{HIGH - GAP}"/>')
        drawn += _columns(density(lane.ranges, length), lane.kind, y)
    for at, name in list(lights)[:LIGHTS]:
        x = 100 * (at + 0.5) / max(length, 1)
        drawn.append(
            f'<g class="light"><rect x="{x:.4f}%" y="{MARGIN}" width="2" height="{HIGH - GAP}"/>'
            f'<circle cx="{x:.4f}%" cy="{MARGIN + (HIGH - GAP) / 2}" r="5"/>{el("title", name)}</g>'
        )
    if moment is not None and length:
        x = 100 * (moment + 1) / length
        drawn.append(
            f'<line class="moment" x1="{x:.4f}%" x2="{x:.4f}%" y1="0" y2="{whole + 2 * MARGIN}"/>'
        )
    picture = (
        f'<svg width="100%" height="{whole + 2 * MARGIN}" class="strip" role="img" '
        f'xmlns="http://www.w3.org/2000/svg">{el("title", title)}{"".join(drawn)}</svg>'
    )
    left, right = ends or ("0", f"{max(length - 1, 0):,}")
    keys = [el("li", lane.name, class_=f"key {lane.kind}") for lane in lanes if len(lanes) > 1]
    return el(
        "figure",
        el("ul", keys, class_="legend") if keys else None,
        raw(picture),
        el("figcaption", el("span", left), el("span", title, class_="what"), el("span", right)),
        class_="over-log",
    )


def _columns(shares: NDArray[np.float64], kind: str, y: int) -> Iterable[str]:
    """Rectangles of equal strength are drawn as one; the least strength can still be seen."""
    steps = np.where(shares > 0, np.ceil(shares * 9).clip(1, 9), 0).astype(int)
    wide = 100 / len(steps)
    cuts = np.flatnonzero(np.diff(steps)) + 1
    for first, last in zip([0, *cuts], [*cuts, len(steps)], strict=True):
        if steps[first]:
            yield (
                f'<rect class="{kind} s{steps[first]}" x="{first * wide:.3f}%" y="{y}" '
                f'width="{(last - first) * wide:.3f}%" height="{HIGH - GAP}"/>'
            )
