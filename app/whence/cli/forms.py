"""The form of an answer, ``--format table|json|csv``, and where the global options may stand."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, get_args

import typer

__all__ = ["FORMS", "GLOBAL_FLAGS", "Form", "form_of", "global_first", "only_own"]

Form = Literal["table", "json", "csv"]

FORMS: tuple[Form, ...] = get_args(Form)
_BY_NAME: dict[str, Form] = {form: form for form in FORMS}

_FLAGS: dict[str, Form] = {"--json": "json", "--csv": "csv", "--csv-raw": "csv"}
"""Short forms of ``--format``."""

GLOBAL_FLAGS = frozenset({*_FLAGS, "--quiet", "-q", "--no-color", "--debug"})
"""Flags of ``whence`` itself, which may also follow a command; so may ``--format``."""

_OWN_FORMAT = frozenset({"draw", "export", "import", "validate"})
"""Commands whose own ``--format`` names the format of a document, none of which is in `FORMS`."""


def form_of(format: str | None, flags: Mapping[str, bool]) -> Form:
    """The form that the options name; all of them have to name the same one.

    >>> form_of(None, {}), form_of("csv", {"--csv-raw": True}), form_of(None, {"--json": True})
    ('table', 'csv', 'json')

    Raises:
        BadParameter: there is no such form, or they name several.
    """
    stated = None if format is None else _BY_NAME.get(format)
    if format is not None and stated is None:
        msg = (
            f"expected one of {', '.join(FORMS)}; got {format!r}; "
            "try one of these, or --log-format for the format of a log"
        )
        raise typer.BadParameter(msg, param_hint="--format")
    named: dict[str, Form] = {}
    if stated is not None:
        named[f"--format {stated}"] = stated
    for flag, given in flags.items():
        if given:
            named[flag] = _FLAGS[flag]
    if len(set(named.values())) > 1:
        msg = f"expected one form of the answer; got {' and '.join(named)}; try one of them"
        raise typer.BadParameter(msg)
    for form in named.values():
        return form
    return "table"


def global_first(words: Sequence[str], commands: Collection[str]) -> list[str]:
    """Move the global options to the front, where the root command reads them.

    >>> global_first(["server", "status", "--json"], {"server"})
    ['--json', 'server', 'status']
    >>> global_first(["runs", "list", "--format", "csv"], {"runs"})
    ['--format', 'csv', 'runs', 'list']
    >>> global_first(["draw", "a.yaml", "--format", "dot"], {"draw"})
    ['draw', 'a.yaml', '--format', 'dot']
    >>> global_first(["runs", "list", "--format"], {"runs"})
    ['--format=', 'runs', 'list']
    >>> global_first(["run", "--", "--json"], {"run"})
    ['run', '--', '--json']
    """
    first, own = _parted(words, commands)
    return first + own


def only_own(words: Sequence[str], commands: Collection[str]) -> list[str]:
    """The words without the global options.

    >>> only_own(["--quiet", "runs", "list", "--format=csv"], {"runs"})
    ['runs', 'list']
    """
    return _parted(words, commands)[1]


def _parted(words: Sequence[str], commands: Collection[str]) -> tuple[list[str], list[str]]:
    """The global options, and everything else; words behind ``--`` are no options."""
    end = words.index("--") if "--" in words else len(words)
    command = next((word for word in words[:end] if word in commands), "")
    first: list[str] = []
    own: list[str] = []
    at = 0
    while at < end:
        size = 2 if words[at] == "--format" and at + 1 < end else 1
        part = list(words[at : at + size])
        name, _, value = part[0].partition("=")
        if name == "--format":
            value = part[1] if size == 2 else value
            part = part if size == 2 or "=" in part[0] else ["--format="]
            is_global = value in FORMS or command not in _OWN_FORMAT
        else:
            is_global = part[0] in GLOBAL_FLAGS
        (first if is_global else own).extend(part)
        at += size
    return first, own + list(words[end:])
