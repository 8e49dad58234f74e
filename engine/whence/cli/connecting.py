"""The options with which a command lets the user choose a Neo4j server, and what they mean."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whence.cli.output import output

if TYPE_CHECKING:
    from whence.store import Connection, Settings

__all__ = ["Database", "Insecure", "PasswordFile", "Uri", "Username", "connected"]

# There is no --password: what stands on a command line is seen by everyone on the machine.
_PANEL = "Neo4j (else the environment, whence.toml, or the local server)"
Uri = Annotated[
    str | None, typer.Option("--uri", help="Address, e.g. neo4j+s://host.", rich_help_panel=_PANEL)
]
Username = Annotated[
    str | None, typer.Option("--username", help="User there.", rich_help_panel=_PANEL)
]
PasswordFile = Annotated[
    Path | None,
    typer.Option(
        "--password-file", help="File whose first line is the password.", rich_help_panel=_PANEL
    ),
]
Database = Annotated[
    str | None, typer.Option("--database", help="Database there.", rich_help_panel=_PANEL)
]
Insecure = Annotated[
    bool,
    typer.Option(
        "--insecure", help="Allow an unencrypted connection elsewhere.", rich_help_panel=_PANEL
    ),
]


@contextmanager
def connected(settings: Settings | None, instance: str | None = None) -> Iterator[Connection]:
    """Connect to these settings, or start the local server of this name and connect to it.

    Without a name, ``WHENCE_INSTANCE`` says which local server is meant, else it is "default".
    """
    from whence.store import connect
    from whence.store.server import start

    out = output()
    instance = instance or os.environ.get("WHENCE_INSTANCE") or "default"
    if settings is None:
        out.say(f"starting a local Neo4j ({instance}); the first time it is fetched …")
        with out.progress() as progress:
            settings = start(instance, progress=progress).settings()
    with connect(settings) as connection:
        out.say(f"connected to {settings.uri}")
        yield connection
