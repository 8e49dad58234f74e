"""The options for loading the graph during a run."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from whence.cli.connecting import Server, connected
from whence.cli.option_groups import option_group
from whence.cli.output import output
from whence.engine.errors import SettingsError, WhenceError

if TYPE_CHECKING:
    from whence.store import Connection
    from whence.store.loading import LoadOptions

__all__ = ["Loaded", "Writers", "loads"]

_PANEL = "The graph (with --track)"
Load = Annotated[
    bool,
    typer.Option("--load/--no-load", help="Load the graph during the run.", rich_help_panel=_PANEL),
]
LoadPriority = Annotated[
    Literal["low", "normal", "high"],
    typer.Option(help="Share of the machine that loading may use.", rich_help_panel=_PANEL),
]
Writers = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Number of concurrent transactions (else by --load-priority).",
        rich_help_panel=_PANEL,
    ),
]


@dataclass(frozen=True)
class Loaded:
    """How the graph is to be loaded.

    Attributes:
        wanted: whether it is.
        priority: how much of the machine that may use during the run.
        writers: how many transactions are written at a time.
    """

    wanted: bool
    priority: Literal["low", "normal", "high"]
    writers: int | None

    def given(self) -> dict[str, bool]:
        """Which of the options say something else than nothing."""
        return {
            "--no-load": not self.wanted,
            "--load-priority": self.priority != "normal",
            "--writers": self.writers is not None,
        }

    def reach(self, server: Server, stack: ExitStack) -> Reached:
        """Connect; a server that is not there, or refuses, does not keep the run from running."""
        from whence.store.loading import LoadOptions

        settings = server.settings()
        options = LoadOptions(settings, self.priority, self.writers)
        try:
            connection = stack.enter_context(connected(settings))
        except SettingsError:
            raise
        except WhenceError as error:
            output().message(f"Neo4j unavailable: {error}")
            # One that has an address may come up during the run.
            return Reached(None if settings is None else options, None, error)
        return Reached(LoadOptions(connection.settings, self.priority, self.writers), connection)


@dataclass(frozen=True)
class Reached:
    """A server that was requested.

    Attributes:
        options: how to load it; ``None`` if there is nothing to load.
        connection: to it; ``None`` if it is not there.
        away: why it is not there.
    """

    options: LoadOptions | None = None
    connection: Connection | None = None
    away: WhenceError | None = None


def _loaded(
    load: Load = True, load_priority: LoadPriority = "normal", writers: Writers = None
) -> Loaded:
    return Loaded(load, load_priority, writers)


loads = option_group("loaded", _loaded)
"""Gives a command the options on loading; it is handed a `Loaded`."""
