"""Pictures as Mermaid text, which GitHub, notebooks and many editors show."""

from __future__ import annotations

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
    numbers = {box.id: f"n{number}" for number, box in enumerate(picture.boxes)}
    lines = ["flowchart TD", f"  accTitle: {_plain(picture.title)}"]
    for box in picture.boxes:
        before, after = _SHAPES[box.kind]
        lines.append(f'  {numbers[box.id]}{before}"{"<br>".join(map(_text, box.lines))}"{after}')
    for arrow in picture.arrows:
        text = f'|"{_text(arrow.text)}"|' if arrow.text else ""
        lines.append(f"  {numbers[arrow.source]} -->{text} {numbers[arrow.target]}")
    return "\n".join(lines) + "\n"


def _text(text: str) -> str:
    """Inside quotes Mermaid reads entities, by number; everything that means something is one."""
    return "".join(c if c.isalnum() or c in " @.,:=-+/'()" else f"#{ord(c)};" for c in text)


def _plain(text: str) -> str:
    return " ".join(text.split())
