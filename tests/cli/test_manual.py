"""Every command and every option stands in the manual, and the manual names no other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from whence.cli.app import COMMANDS, app

MANUAL = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"


def sections() -> dict[str, str]:
    """The text under each heading that is a command: ``## `whence server start` ``."""
    parts = re.split(
        r"^#+ `(whence[^`]*)`$", MANUAL.read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def commands() -> Iterator[tuple[str, Any]]:
    group: Any = typer.main.get_command(app)
    yield "whence", group
    for name in COMMANDS:
        command = group.get_command(None, name)
        yield f"whence {name}", command
        for verb, each in getattr(command, "commands", {}).items():
            yield f"whence {name} {verb}", each


def options(command: Any) -> set[str]:
    return {word for parameter in command.params for word in parameter.opts if word[0] == "-"}


def test_every_command_has_its_section_and_no_other() -> None:
    assert set(sections()) == {name for name, _ in commands()}


def test_every_option_is_described_in_the_section_of_its_command() -> None:
    text = sections()
    missing = [
        f"{name} {option}"
        for name, command in commands()
        for option in options(command) - {"--help", "-h"}
        if f"`{option}" not in text[name]
    ]
    assert missing == []


def test_no_section_describes_an_option_that_is_not_there() -> None:
    known = dict(commands())
    invented = [
        f"{name} {option}"
        for name, text in sections().items()
        for option in re.findall(r"^\| `(--[a-z-]+)", text, flags=re.MULTILINE)
        if option not in options(known[name])
    ]
    assert invented == []
