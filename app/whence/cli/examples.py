"""Examples at the end of a command's help."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["add_global_options", "examples"]

_GLOBAL = "Also: --format table|json|csv, --quiet, --no-color, --debug (see whence --help)."


def examples(*commands: str) -> str:
    r"""The epilog of a command that shows these examples, one a line.

    >>> examples("whence runs list", "whence runs show latest")
    'Examples:\n\nwhence runs list\n\nwhence runs show latest'
    """
    return "\n\n".join(["Examples:", *commands])


def add_global_options(command: Any) -> None:
    """Let the help of a command, and of each command below it, end with the global options."""
    for each in _commands(command):
        each.epilog = "\n\n".join(filter(None, [each.epilog, _GLOBAL]))


def _commands(command: Any) -> Iterator[Any]:
    yield command
    for below in getattr(command, "commands", {}).values():
        yield from _commands(below)
