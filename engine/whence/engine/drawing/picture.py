"""What a drawing shows, before anyone decides how."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

__all__ = ["Arrow", "Box", "Kind", "Picture"]

Kind = Literal["output", "step", "input", "rest"]


@dataclass(frozen=True)
class Box:
    """A box with some lines of text.

    Attributes:
        id: unique in its picture.
        lines: its text.
        kind: how it looks: ``output``, ``step``, ``input``, or ``rest`` for what is left out.
        inside: what is drawn in it, below the text.
    """

    id: str
    lines: tuple[str, ...]
    kind: Kind = "step"
    inside: Picture | None = None


@dataclass(frozen=True)
class Arrow:
    """An arrow from box to box.

    Attributes:
        source: where it begins.
        target: where it ends.
        text: its label.
    """

    source: str
    target: str
    text: str = ""


@dataclass(frozen=True)
class Picture:
    """Boxes and arrows; the first box is on top.

    Attributes:
        title: what it shows, for readers that cannot see it.
        boxes: the boxes.
        arrows: the arrows, none of them in a circle.
    """

    title: str
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...] = field(default=())
