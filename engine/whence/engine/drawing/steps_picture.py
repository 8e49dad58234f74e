"""The picture of an explanation."""

from __future__ import annotations

from whence.engine.drawing.picture import Arrow, Box, Kind, Picture
from whence.engine.steps import NOT_TOLD, Step, Steps
from whence.engine.words import WIDEST, value_text

__all__ = ["fields_text", "picture_of_steps", "step_box"]

BOXES = 200
"""More than so many boxes nobody can read."""


def picture_of_steps(found: Steps, most: int = BOXES) -> Picture:
    """Draw the output on top and what it derives from below.

    Args:
        found: the steps.
        most: so many boxes; what is left out is counted in boxes of its own.
    """
    shown = _nearest(found, most)
    boxes = [step_box(found.steps[name], found.output) for name in shown]
    arrows: list[Arrow] = []
    for name in shown:
        left = 0
        for edge in found.below.get(name, ()):
            if edge.target in shown:
                arrows.append(Arrow(name, edge.target, fields_text(edge.fields)))
            else:
                left += 1
        if left:
            rest = f"rest of {name}"
            boxes.append(Box(rest, (f"… {left:,} more",), "rest"))
            arrows.append(Arrow(name, rest))
    return Picture(f"what explains {found.output}", tuple(boxes), tuple(arrows))


def _nearest(found: Steps, most: int) -> dict[str, None]:
    """The events nearest to the output."""
    shown = {found.output: None}
    layer = [found.output]
    while layer:
        following: list[str] = []
        for name in layer:
            for edge in found.below.get(name, ()):
                if edge.target not in shown:
                    if len(shown) >= most:
                        return shown
                    shown[edge.target] = None
                    following.append(edge.target)
        layer = following
    return shown


def step_box(step: Step, output: str, *more: str, most: int = WIDEST) -> Box:
    """The box of an event.

    Args:
        step: the event.
        output: the name of the output that is explained.
        more: lines below the others.
        most: characters of its value.
    """
    kind: Kind = "output" if step.name == output else "input" if step.is_input else "step"
    lines = [step.name]
    if step.many > 1:
        lines.append(f"{step.many:,} events")
    elif step.value is not NOT_TOLD:
        lines.append(f"= {value_text(step.value, most=most)}")
    return Box(step.name, (*lines, *more), kind)


def fields_text(fields: tuple[str, ...] | None) -> str:
    """The fields that matter, beside an arrow."""
    return "" if fields is None else ", ".join(fields) or "is there"
