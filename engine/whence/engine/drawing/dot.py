"""Pictures as DOT text, for Graphviz and whatever else reads it."""

from __future__ import annotations

from collections.abc import Iterator

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
    lines = [f"digraph {_text(picture.title)} {{"]
    if any(box.inside for box in picture.boxes):
        lines.append("  compound=true;")
    return "\n".join([*lines, *_drawn(picture, "n", "  "), "}"]) + "\n"


def _drawn(picture: Picture, name: str, indent: str) -> Iterator[str]:
    """The boxes and arrows; a box with something in it is a cluster, held by a point of its own."""
    numbers = {box.id: f"{name}{number}" for number, box in enumerate(picture.boxes)}
    clusters = {box.id for box in picture.boxes if box.inside}
    for box in picture.boxes:
        own = numbers[box.id]
        if box.inside is None:
            yield f"{indent}{own} [label={_text(*box.lines)}, {_SHAPES[box.kind]}];"
            continue
        yield f"{indent}subgraph cluster_{own} {{"
        yield f"{indent}  label={_text(*box.lines)};"
        yield f"{indent}  {own} [shape=point, style=invis];"
        yield from _drawn(box.inside, f"{own}_", f"{indent}  ")
        yield f"{indent}}}"
    for arrow in picture.arrows:
        told = [f"label={_text(arrow.text)}"] if arrow.text else []
        told += [f"ltail=cluster_{numbers[arrow.source]}"] if arrow.source in clusters else []
        told += [f"lhead=cluster_{numbers[arrow.target]}"] if arrow.target in clusters else []
        text = f" [{', '.join(told)}]" if told else ""
        yield f"{indent}{numbers[arrow.source]} -> {numbers[arrow.target]}{text};"


def _text(*lines: str) -> str:
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(" ".join(line.splitlines()) for line in escaped) + '"'
