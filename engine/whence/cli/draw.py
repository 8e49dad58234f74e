"""``whence draw``: the picture of a chain."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from whence.cli.chain_options import ChainFile
from whence.cli.output import output

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command()
def draw(
    chain: ChainFile,
    to: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="A file .svg, .mmd or .dot."),
    ] = None,
    format: Annotated[
        str, typer.Option(metavar="NAME", help="svg, mermaid or dot, where no file says it.")
    ] = "mermaid",
) -> None:
    """Draw a chain: logs, processors and what is inside them, outputs.

    Without a file the drawing is printed.
    """
    from whence.engine.chain_file import load_chain
    from whence.engine.drawing import draw as drawn
    from whence.engine.drawing import draw_to, picture_of_chain

    picture = picture_of_chain(load_chain(chain), title=Path(chain).stem)
    if to is None:
        print(drawn(picture, format), end="")
        return
    output().say(f"drawn: {draw_to(picture, to)}")
