"""``whence demo``: the whole story, from a log to an answer to a PROV file."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from whence.cli.connecting import Server, connected, connects
from whence.cli.output import output

__all__ = ["app"]

app = typer.Typer(add_completion=False)

INSTANCE = "demo"
"""A server of its own, so that the demo never touches the user's graph."""


@app.command()
@connects
def demo(
    folder: Annotated[
        Path, typer.Option(help="Folder for the log, the chains, the record and the answer.")
    ] = Path("whence-demo"),
    events: Annotated[int, typer.Option(min=200, help="Approximate number of events.")] = (20_000),
    keep: Annotated[bool, typer.Option("--keep", help="Leave the demo server running.")] = False,
    *,
    server: Server,
) -> None:
    """Check a payment log on Spark, store the reasons in Neo4j, and ask three questions.

    Generates a log of about 20,000 events with a few planted violations. Checks a life cycle and a
    temporal rule. Shows which events made verdicts false, which never matter, and which verdicts
    hold if a case was forged. Uses its own local server, demo, unless you name one.
    """
    from whence.cli.demo_story import Story
    from whence.store.server import stop

    output().refuse("json", "csv", instead="without it; the answers are in the folder too")
    settings = server.settings()
    chains = {}
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("lifecycle", "audit"):
        text = (files("whence.cli") / "demo_chains" / f"{name}.yaml").read_text(encoding="utf-8")
        chains[name] = folder / f"{name}.yaml"
        chains[name].write_text(text, encoding="utf-8")
    try:
        with connected(settings, INSTANCE) as connection:
            story = Story(folder, chains, connection, events, own_server=settings is None)
            story.run(output())
    finally:
        if settings is None and not keep:
            stop(INSTANCE)
