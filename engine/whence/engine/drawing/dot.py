"""Pictures as DOT text, for Graphviz and whatever else reads it."""

from __future__ import annotations

from whence.engine.drawing.picture import Picture

__all__ = ["dot"]

_SHAPES = {
    "output": "shape=box, style=rounded, penwidth=2",
    "step": "shape=box",
    "input": "shape=parallelogram",
    "rest": "shape=plaintext",
}


def dot(picture: Picture) -> str:
    """Write a picture as DOT.

    >>> from whence.engine.drawing.picture import Arrow, Box
    >>> boxes = (Box("a", ("all@1",), "output"), Box("b", ("log@0",), "input"))
    >>> print(dot(Picture("why", boxes, (Arrow("a", "b"),))), end="")
    digraph "why" {
      n0 [label="all@1", shape=box, style=rounded, penwidth=2];
      n1 [label="log@0", shape=parallelogram];
      n0 -> n1;
    }
    """
    numbers = {box.id: f"n{number}" for number, box in enumerate(picture.boxes)}
    lines = [f"digraph {_text(picture.title)} {{"]
    for box in picture.boxes:
        lines.append(f"  {numbers[box.id]} [label={_text(*box.lines)}, {_SHAPES[box.kind]}];")
    for arrow in picture.arrows:
        text = f" [label={_text(arrow.text)}]" if arrow.text else ""
        lines.append(f"  {numbers[arrow.source]} -> {numbers[arrow.target]}{text};")
    return "\n".join([*lines, "}"]) + "\n"


def _text(*lines: str) -> str:
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(" ".join(line.splitlines()) for line in escaped) + '"'
