"""The graph of an explanation: it starts collapsed, and boxes open on request."""

from __future__ import annotations

from collections.abc import Collection

from whence.engine.drawing import Arrow, Box, Picture
from whence.engine.drawing.picture import Kind
from whence.engine.drawing.steps_picture import fields_text, step_box
from whence.engine.lineage.steps import StepEdge, Steps

__all__ = ["expanded"]

TOGETHER = 8
"""More events than this below one box are drawn as one box until it is opened."""
SHOWN = 24
"""Maximum number of events of one box to draw."""
WIDEST = 34


def expanded(found: Steps, opened: Collection[str]) -> tuple[Picture, frozenset[str]]:
    """What is seen with some boxes opened, and which boxes can be opened or closed.

    The box of the output is open to begin with; naming it in ``opened`` closes it.

    Args:
        found: the whole explanation.
        opened: the ids of boxes that were opened.
    """
    boxes: dict[str, Box] = {}
    arrows: list[Arrow] = []
    can: set[str] = set()
    waiting = [found.output]
    while waiting:
        name = waiting.pop(0)
        if name in boxes:
            continue
        below = found.below.get(name, ())
        is_open = (name in opened) != (name == found.output)
        closed = () if is_open or not below else (f"+ {len(below):,} below",)
        boxes[name] = step_box(found.steps[name], found.output, *closed, most=WIDEST)
        if below:
            can.add(name)
        if not is_open:
            continue
        for group in _groups(found, below):
            waiting += _shown(found, name, group, opened, boxes, arrows, can)
    return Picture(f"what explains {found.output}", tuple(boxes.values()), tuple(arrows)), (
        frozenset(can)
    )


def _groups(found: Steps, below: Collection[StepEdge]) -> list[list[StepEdge]]:
    """What is below a box, by where it comes from: a log, or a processor."""
    groups: dict[str | None, list[StepEdge]] = {}
    for edge in below:
        step = found.steps[edge.target]
        groups.setdefault(step.processor or f"log {edge.target.rpartition('@')[0]}", []).append(
            edge
        )
    return list(groups.values())


def _shown(
    found: Steps,
    above: str,
    group: list[StepEdge],
    opened: Collection[str],
    boxes: dict[str, Box],
    arrows: list[Arrow],
    can: set[str],
) -> list[str]:
    together = f"{above} from {group[0].target.rpartition('@')[0]}"
    if len(group) > TOGETHER and together not in opened:
        step = found.steps[group[0].target]
        kind: Kind = "input" if step.is_input else "step"
        events = sum(found.steps[edge.target].many for edge in group)
        name = group[0].target.rpartition("@")[0]
        boxes[together] = Box(together, (name, f"{events:,} events", "+ show them"), kind)
        arrows.append(Arrow(above, together))
        can.add(together)
        return []
    following = []
    for edge in group[:SHOWN]:
        arrows.append(Arrow(above, edge.target, fields_text(edge.fields)[:WIDEST]))
        following.append(edge.target)
    left = sum(found.steps[edge.target].many for edge in group[SHOWN:])
    if left:
        rest = f"rest of {together}"
        boxes[rest] = Box(rest, (f"… {left:,} more", "in the table and the CSV"), "rest")
        arrows.append(Arrow(above, rest))
    return following
