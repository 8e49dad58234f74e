"""Pictures as Mermaid text, which GitHub, notebooks and many editors show."""

from __future__ import annotations

from collections.abc import Iterator

from whence.engine.drawing.picture import Picture

__all__ = ["mermaid"]

_SHAPES = {"output": ("([", "])"), "step": ("[", "]"), "input": ("[/", "/]"), "rest": ("(", ")")}


def mermaid(picture: Picture) -> str:
    """Write a picture as a Mermaid flowchart.

    >>> from whence.engine.drawing.picture import Arrow, Box
    >>> boxes = (Box("a", ("all@1", "= false"), "output"), Box("b", ("log@0",), "input"))
    >>> print(mermaid(Picture("why", boxes, (Arrow("a", "b", "x"),))), end="")
    flowchart TD
      accTitle: why
      n0(["all@1<br>= false"])
      n1[/"log@0"/]
      n0 -->|"x"| n1
    """
    lines = ["flowchart TD", f"  accTitle: {_plain(picture.title)}"]
    return "\n".join([*lines, *_drawn(picture, "n", "  ")]) + "\n"


def _drawn(picture: Picture, name: str, indent: str) -> Iterator[str]:
    """The boxes and arrows; a box with something in it is a subgraph."""
    numbers = {box.id: f"{name}{number}" for number, box in enumerate(picture.boxes)}
    for box in picture.boxes:
        own, text = numbers[box.id], "<br>".join(map(_text, box.lines))
        if box.inside is None:
            before, after = _SHAPES[box.kind]
            yield f'{indent}{own}{before}"{text}"{after}'
            continue
        yield f'{indent}subgraph {own} ["{text}"]'
        yield from _drawn(box.inside, f"{own}_", f"{indent}  ")
        yield f"{indent}end"
    for arrow in picture.arrows:
        text = f'|"{_text(arrow.text)}"|' if arrow.text else ""
        yield f"{indent}{numbers[arrow.source]} -->{text} {numbers[arrow.target]}"


def _text(text: str) -> str:
    """Inside quotes Mermaid reads entities, by number; everything that means something is one."""
    return "".join(c if c.isalnum() or c in " @.,:=-+/'()" else f"#{ord(c)};" for c in text)


def _plain(text: str) -> str:
    return " ".join(text.split())
