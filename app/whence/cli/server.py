"""``whence server``: a real Neo4j on this machine."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from whence.cli.connecting import default_instance
from whence.cli.output import output

if TYPE_CHECKING:
    from whence.store.server import Status

__all__ = ["app"]

app = typer.Typer(
    add_completion=False,
    help="Manage a local Neo4j server: start, stop, status, logs.",
    no_args_is_help=True,
)

Name = Annotated[
    str | None,
    typer.Option("--name", "-n", help="Which local server (else WHENCE_INSTANCE, else default)."),
]


@app.command()
def start(
    name: Name = None,
    port: Annotated[
        int,
        typer.Option(
            "--port", min=1, max=65535, help="Port for Bolt; if it is taken, a free one is used."
        ),
    ] = 7687,
    memory: Annotated[
        int | None,
        typer.Option(
            "--memory", help="Megabytes for heap and page cache; else a share of the machine."
        ),
    ] = None,
) -> None:
    """Start the server and wait until it answers; the first time, fetch Neo4j (about 120 MB)."""
    from whence.store.server import Memory, status
    from whence.store.server import start as start_server

    out, name = output(), name or default_instance()
    before = status(name)
    if before.state != "running":
        out.message(f"starting Neo4j ({name}) …")
    began = time.monotonic()
    with out.progress() as progress:
        now = start_server(
            name, port=port, memory=Memory.of(memory) if memory else None, progress=progress
        )
    already = before.state == "running"
    verb = "was already running" if already else f"answers after {time.monotonic() - began:.1f} s"
    out.result(
        {**_facts(now), "already_running": already},
        f"Neo4j ({name}) {verb}: {now.uri}\nuser neo4j, password in {now.home / 'password'}",
    )


@app.command()
def stop(name: Name = None) -> None:
    """Stop the server; its data stays."""
    from whence.store.server import stop as stop_server

    name = name or default_instance()
    was_running = stop_server(name)
    text = f"Neo4j ({name}) stopped" if was_running else f"Neo4j ({name}) was not running"
    output().result({"name": name, "was_running": was_running}, text)


@app.command()
def status(
    name: Annotated[
        str | None, typer.Option("--name", "-n", help="Which local server; default: all.")
    ] = None,
) -> None:
    """List the local servers and whether they answer."""
    from whence.store.server import instances
    from whence.store.server import status as server_status

    names = [name] if name else (instances() or [default_instance()])
    rows = [_facts(server_status(each)) for each in names]
    output().table(rows, ["name", "state", "uri", "pid", "home"])


@app.command()
def logs(
    name: Name = None,
    lines: Annotated[int, typer.Option("--lines", "-l", min=1, help="Number of last lines.")] = 50,
) -> None:
    """Print the last lines of the server's log since it was last started."""
    from whence.store.server import last_lines

    name = name or default_instance()
    said = last_lines(name, lines)
    rows = [{"line": line} for line in said]
    output().result({"name": name, "lines": said}, Text("\n".join(said)), rows, ["line"])


@app.command()
def remove(
    name: Name = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
) -> None:
    """Delete a stopped server and all its data."""
    from whence.store.server import remove as remove_server
    from whence.store.server import status as server_status

    name = name or default_instance()
    home = server_status(name).home
    removed = False
    if home.exists():
        if not output().confirm(f"Delete the server {name!r} with all its data?", yes=yes):
            raise typer.Exit(1)
        removed = remove_server(name)
    text = f"Neo4j ({name}) removed" if removed else f"there is no local server {name!r}"
    output().result({"name": name, "removed": removed}, text)


def _facts(now: Status) -> dict[str, Any]:
    return {
        "name": now.name,
        "state": now.state,
        "uri": now.uri,
        "pid": now.pid,
        "home": str(now.home),
        "password_file": str(now.home / "password"),
    }
