"""The options that say which input events are meant."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whence.cli.option_groups import option_group
from whence.engine.errors import ParameterError

if TYPE_CHECKING:
    from whence.store.questions import Selection

__all__ = ["Selecting", "selects"]


@dataclass(frozen=True)
class Selecting:
    """Which input events are meant, as the command line has it."""

    inputs: str | None
    case: str | None
    activity: str | None
    since: str | None
    until: str | None
    where: str | None
    ids: Path | None
    log: str | None

    def selection(self) -> Selection:
        """The same for a question; files are read here."""
        from whence.store.questions import Selection
        from whence.store.questions.naming import parse_positions

        positions = None
        if self.inputs is not None:
            text = self.inputs
            if text.startswith("@"):
                text = ",".join(_lines(Path(text[1:]), "--inputs"))
            positions = parse_positions(text)
        return Selection(
            positions,
            self.case,
            self.activity,
            self.since,
            self.until,
            self.where,
            None if self.ids is None else tuple(_lines(self.ids, "--ids")),
            self.log,
        )


def _lines(path: Path, option: str) -> list[str]:
    """The lines of a file; empty lines are left out."""
    try:
        lines = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{option}: expected a text file; got {path}, {error}; try one line an event"
        raise ParameterError(msg) from error
    found = [line for line in lines if line]
    if not found:
        msg = f"{option}: expected a line an event; got an empty file {path}; try one with events"
        raise ParameterError(msg)
    return found


def _selecting(
    inputs: Annotated[
        str | None,
        typer.Option(
            "--inputs",
            metavar="POSITIONS",
            help="3,17-20 or LOG:3,OTHER:0-4; @FILE with a line each.",
        ),
    ] = None,
    case: Annotated[str | None, typer.Option("--case", help="Input events of this case.")] = None,
    activity: Annotated[
        str | None, typer.Option("--activity", help="Input events of this activity.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="TIME", help="Input events at this time or later."),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option("--until", metavar="TIME", help="Input events at this time or earlier."),
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(
            "--filter", help="Input events that meet this condition, e.g. 'amount > 100'."
        ),
    ] = None,
    ids: Annotated[
        Path | None,
        typer.Option("--ids", metavar="FILE", help="Input events with these ids, one per line."),
    ] = None,
    log: Annotated[
        str | None, typer.Option("--log", metavar="NAME", help="Only input events of this log.")
    ] = None,
) -> Selecting:
    return Selecting(inputs, case, activity, since, until, where, ids, log)


selects = option_group("selecting", _selecting)
"""Gives a command the options that choose input events; it is handed a `Selecting`."""
