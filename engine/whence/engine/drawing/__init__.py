"""Drawings: boxes and arrows, as Mermaid, DOT or SVG. Everything that is drawn is drawn here."""

from __future__ import annotations

from whence.engine.drawing.chain_picture import picture_of_chain
from whence.engine.drawing.dot import dot
from whence.engine.drawing.mermaid import mermaid
from whence.engine.drawing.picture import Arrow, Box, Picture
from whence.engine.drawing.saving import FORMATS, draw, draw_to
from whence.engine.drawing.steps_picture import picture_of_steps
from whence.engine.drawing.svg import svg
from whence.engine.drawing.timeline import Lane, Mark, Timeline, timeline

__all__ = [
    "FORMATS",
    "Arrow",
    "Box",
    "Lane",
    "Mark",
    "Picture",
    "Timeline",
    "dot",
    "draw",
    "draw_to",
    "mermaid",
    "picture_of_chain",
    "picture_of_steps",
    "svg",
    "timeline",
]
