"""``whence doctor``: look at everything Whence needs, and say what to do about each finding."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from whence.cli.connecting import Server, connects, default_instance
from whence.cli.output import output

__all__ = ["app"]

app = typer.Typer(add_completion=False)

_COLORS = {"ok": "green", "note": "yellow", "broken": "red"}


@app.command()
@connects
def doctor(
    name: Annotated[
        str | None,
        typer.Option(
            "--name", "-n", help="Which local server (else WHENCE_INSTANCE, else default)."
        ),
    ] = None,
    *,
    server: Server,
) -> None:
    """Check Python, Java, Spark, Neo4j, ports, memory and disk; exit code 1 if one is broken."""
    from whence.cli.checks import connection_settings, every_check

    settings, about = connection_settings(server)
    findings = [*every_check(name or default_instance(), settings), about]
    table = Table("", "what", "found", "what to do", box=None, pad_edge=False, header_style="bold")
    for finding in findings:
        color = _COLORS[finding.state]
        table.add_row(
            f"[{color}]{finding.state}[/{color}]",
            finding.what,
            finding.found,
            finding.advice,
        )
    broken = [finding for finding in findings if finding.state == "broken"]
    rows = [finding.as_json() for finding in findings]
    output().result({"healthy": not broken, "findings": rows}, table, rows)
    if broken:
        raise typer.Exit(1)
