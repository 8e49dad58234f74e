"""Where boxes are placed: each below everything that points at it, near its neighbours."""

from __future__ import annotations

from whence.engine.drawing.picture import Box, Picture

__all__ = ["layers"]

_SWEEPS = 4


def layers(picture: Picture) -> list[list[Box]]:
    """The boxes in rows from the top, each row in order from the left.

    Two rows stay in the order in which they were given; an input that nothing points at is among
    the others, at the bottom.

    >>> from whence.engine.drawing.picture import Arrow
    >>> boxes = tuple(Box(name, (name,)) for name in "abc")
    >>> arrows = (Arrow("a", "b"), Arrow("b", "c"), Arrow("a", "c"))
    >>> [[box.id for box in row] for row in layers(Picture("", boxes, arrows))]
    [['a'], ['b'], ['c']]
    """
    below: dict[str, list[str]] = {box.id: [] for box in picture.boxes}
    above: dict[str, list[str]] = {box.id: [] for box in picture.boxes}
    for arrow in picture.arrows:
        below[arrow.source].append(arrow.target)
        above[arrow.target].append(arrow.source)
    depth = dict.fromkeys(below, 0)
    left = {name: len(sources) for name, sources in above.items()}
    ready = [name for name, many in left.items() if not many]
    while ready:
        name = ready.pop()
        for target in below[name]:
            depth[target] = max(depth[target], depth[name] + 1)
            left[target] -= 1
            if not left[target]:
                ready.append(target)
    lowest = max(depth.values(), default=-1)
    rows: list[list[Box]] = [[] for _ in range(lowest + 1)]
    for box in picture.boxes:
        alone = box.kind == "input" and not above[box.id] and not below[box.id]
        rows[lowest if alone else depth[box.id]].append(box)
    for sweep in range(_SWEEPS if len(rows) > 2 else 0):
        upwards = sweep % 2 == 1
        for number in reversed(range(len(rows))) if upwards else range(len(rows)):
            _arrange(rows, number, below if upwards else above)
    return rows


def _arrange(rows: list[list[Box]], number: int, beside: dict[str, list[str]]) -> None:
    """Order a row by the average place of the boxes that its boxes belong to."""
    at = {box.id: place / max(len(row), 1) for row in rows for place, box in enumerate(row)}

    def wanted(box: Box) -> float:
        near = beside[box.id]
        return sum(at[name] for name in near) / len(near) if near else at[box.id]

    rows[number].sort(key=wanted)
