"""``whence draw``: the picture of a chain, of a run, or of what explains an output."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whence.cli.asking import Record
from whence.cli.chain_options import Allow
from whence.cli.output import output
from whence.engine.errors import ParameterError

if TYPE_CHECKING:
    from whence.engine.drawing import Picture

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command()
def draw(
    chain: Annotated[
        Path | None,
        typer.Argument(metavar="[CHAIN]", help="The chain file, YAML or JSON; or use --run."),
    ] = None,
    run: Annotated[
        str | None,
        typer.Option(
            "--run", metavar="RUN", help="Draw the chain of a run, with counts on the pipes."
        ),
    ] = None,
    explain: Annotated[
        str | None,
        typer.Option(
            "--explain", metavar="OUTPUT", help="Draw what explains this output of the run."
        ),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="A file .svg, .mmd or .dot."),
    ] = None,
    format: Annotated[
        str, typer.Option(metavar="NAME", help="svg, mermaid or dot, if there is no --output.")
    ] = "mermaid",
    record: Record = None,
    allow: Allow = None,
) -> None:
    """Draw a chain, or what explains an output of a run.

    Shows logs, processors and what is inside them, and outputs. Reads the record; needs no server.
    Prints the drawing if there is no --output.
    """
    from whence.engine.drawing import draw as drawn
    from whence.engine.drawing import draw_to

    out = output()
    out.refuse("csv", instead="--format svg, mermaid or dot")
    picture = _picture(chain, run, explain, record, allow or ())
    if to is not None:
        written = str(draw_to(picture, to))
        if out.json:
            out.result({"file": written})
        out.message(f"drawn: {written}")
    elif out.json:
        out.result({"format": format, "drawing": drawn(picture, format)})
    else:
        out.plain(drawn(picture, format))


def _picture(
    chain: Path | None,
    run: str | None,
    explain: str | None,
    record: Path | None,
    allow: Iterable[str],
) -> Picture:
    if (chain is None) == (run is None) or (explain is not None and run is None):
        got = "both" if chain and run else "--explain without --run" if explain else "neither"
        msg = f"a drawing: expected a chain file or --run RUN; got {got}; try --run latest"
        raise ParameterError(msg)
    from whence.engine.drawing import picture_of_chain, picture_of_steps

    if chain is not None:
        from whence.engine.functions import BY_NAME
        from whence.engine.language.chain_file import load_chain

        # A picture shows the names of functions, so that none is loaded for it.
        return picture_of_chain(load_chain(chain, allow=BY_NAME), title=chain.stem)
    from whence.engine.record import RunRecord, record_place
    from whence.notebook.runs import picture_of_run

    kept = RunRecord(record_place(record), str(run))
    if explain is None:
        return picture_of_run(kept)
    from whence.store.allowing import load_own_functions
    from whence.store.questions import explain_recorded, steps_recorded

    load_own_functions(kept.manifest.chain, allow)
    return picture_of_steps(steps_recorded(kept, explain_recorded(kept, explain)))
