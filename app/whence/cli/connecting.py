"""The options with which a command lets the user choose a Neo4j server, and what they mean."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whence.cli.option_groups import option_group
from whence.cli.output import output

if TYPE_CHECKING:
    from whence.store import Connection, Settings

__all__ = [
    "Server",
    "connected",
    "connects",
    "default_instance",
    "has_graph",
    "local_instance",
]

# There is no --password: every user of the machine can see command lines.
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


@dataclass(frozen=True)
class Server:
    """Which Neo4j the options mean.

    Attributes:
        uri: its address; ``None`` if the options do not say.
        username: the user there.
        password_file: where the password is.
        database: the database there.
        insecure: whether an unencrypted connection elsewhere is allowed.
    """

    uri: str | None
    username: str | None
    password_file: Path | None
    database: str | None
    insecure: bool

    def settings(self) -> Settings | None:
        """The settings, from the options, the environment and the file; else the local server."""
        from whence.store import resolve_settings

        return resolve_settings(
            uri=self.uri,
            username=self.username,
            password_file=self.password_file,
            database=self.database,
            insecure=self.insecure,
        )

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        with connected(self.settings()) as connection:
            yield connection


def _server(
    uri: Uri = None,
    username: Username = None,
    password_file: PasswordFile = None,
    database: Database = None,
    insecure: Insecure = False,
) -> Server:
    return Server(uri, username, password_file, database, insecure)


connects = option_group("server", _server)
"""Gives a command the options on which Neo4j is meant; it is handed a `Server`."""


@contextmanager
def connected(settings: Settings | None, instance: str | None = None) -> Iterator[Connection]:
    """Connect to these settings, or start the local server of this name and connect to it.

    Without a name, ``WHENCE_INSTANCE`` says which local server is meant, else it is "default".
    """
    from whence.store import connect
    from whence.store.server import start
    from whence.store.server.instance import Instance
    from whence.store.server.process import find_running

    out = output()
    instance = instance or default_instance()
    if settings is None:
        if find_running(Instance(instance)) is None:
            out.message(f"starting a local Neo4j ({instance}); the first time it is fetched …")
        with out.progress() as progress:
            settings = start(instance, progress=progress).settings()
    with connect(settings) as connection:
        out.message(f"connected to {settings.uri}")
        yield connection


def has_graph(settings: Settings | None) -> bool:
    """Whether there is a graph at all: a server that is named, or a local one that was set up."""
    from whence.store.server.instance import Instance

    return settings is not None or Instance(default_instance()).exists


def local_instance(server: Server) -> str:
    """The name of the local server that is meant; one that is elsewhere is refused.

    Raises:
        StoreError: the options, the environment or whence.toml name a server that is not ours.
    """
    from whence.engine.errors import StoreError
    from whence.store.server.serving import serving

    settings = server.settings()
    if settings is None:
        return default_instance()
    found = serving(settings)
    if found is None:
        msg = (
            f"expected a local server of whence, whose files are here; got {settings.uri}; "
            "try without --uri and NEO4J_URI, or whence load for each run"
        )
        raise StoreError(msg)
    return found.name


def default_instance() -> str:
    """The local server that is meant where none is named."""
    from whence.store.server.folders import default_instance as of_the_environment

    return of_the_environment()
