"""The picture of an explanation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from whence.engine.drawing.picture import Arrow, Box, Kind, Picture
from whence.engine.lineage.steps import NOT_TOLD, Step, Steps
from whence.engine.lineage.words import WIDEST, value_text

__all__ = ["fields_text", "picture_of_steps", "step_box"]

BOXES = 200
"""More boxes than this are unreadable."""
LINES = 4
"""Number of fields of an event to show, those that matter."""
FIELD = 32
"""Characters of a field's value."""


def picture_of_steps(found: Steps, most: int = BOXES) -> Picture:
    """Draw the output on top and what it derives from below.

    Args:
        found: the steps.
        most: maximum number of boxes; the rest is counted in boxes of its own.
    """
    shown = _nearest(found, most)
    asked = _asked(found, shown)
    boxes = [step_box(found.steps[name], found.output, fields=asked.get(name)) for name in shown]
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


def _asked(found: Steps, shown: Iterable[str]) -> dict[str, list[str] | None]:
    """The fields of each event that matter to those above it; ``None``: all of it."""
    asked: dict[str, list[str] | None] = {}
    for edge in (edge for name in shown for edge in found.below.get(name, ())):
        known = asked.setdefault(edge.target, [])
        if known is None or edge.fields is None:
            asked[edge.target] = None
        else:
            known += [name for name in edge.fields if name not in known]
    return asked


def step_box(
    step: Step,
    output: str,
    *more: str,
    most: int = WIDEST,
    fields: Sequence[str] | None = None,
) -> Box:
    """The box of an event.

    Args:
        step: the event.
        output: the name of the output that is explained.
        more: lines below the others.
        most: characters of its value.
        fields: the fields that matter, of an event that has fields; all of them, unless given.
    """
    kind: Kind = "output" if step.name == output else "input" if step.is_input else "step"
    lines = [step.name]
    if step.many > 1:
        lines.append(f"{step.many:,} events")
    elif isinstance(step.value, Mapping):
        names = [name for name in fields or step.value if name in step.value]
        lines += [f"{name} = {value_text(step.value[name], most=FIELD)}" for name in names[:LINES]]
        if len(names) > LINES:
            lines.append(f"… {len(names) - LINES:,} more")
    elif step.value is not NOT_TOLD:
        lines.append(f"= {value_text(step.value, most=most)}")
    return Box(step.name, (*lines, *more), kind)


def fields_text(fields: tuple[str, ...] | None) -> str:
    """The fields that matter: the label of an arrow."""
    return "" if fields is None else ", ".join(fields) or "is there"
