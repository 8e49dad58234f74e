"""What `run` and `check` share: a chain file, its logs, and what is declared of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whence.cli.reading import Relay, opened
from whence.engine.errors import LogError
from whence.engine.language.log import Log
from whence.engine.values.limits import RunLimits, current, use_limits

if TYPE_CHECKING:
    from whence.engine.language.chain import Chain
    from whence.engine.runners.given_logs import DeclaredLogs
    from whence.engine.sources.source import Source
    from whence.engine.values import Value

__all__ = ["Allow", "ChainFile", "Logs", "Prepared", "RunLimit", "chain_in", "prepare"]


def _use_limits(given: list[str] | None) -> list[str] | None:
    """Hold this command to the limits that are given."""
    if given:
        use_limits(RunLimits.stated(given, current()))
    return given


_PANEL = "Limits and functions of your own"

ChainFile = Annotated[
    Path, typer.Argument(metavar="CHAIN", help="The chain file, YAML or JSON.", show_default=False)
]
Allow = Annotated[
    list[str] | None,
    typer.Option(
        "--allow",
        metavar="MODULE",
        help="Let the chain call the functions of this module, and run its code.",
        rich_help_panel=_PANEL,
    ),
]
Logs = Annotated[
    list[str] | None,
    typer.Option(
        "--log",
        metavar="FILE",
        help="A log: a file, folder, or run:ID/STREAM; NAME=FILE once for each of several.",
    ),
]


RunLimit = Annotated[
    list[str] | None,
    typer.Option(
        "--run-limit",
        metavar="NAME=N",
        help="Raise a limit of the run: value=256000000.",
        callback=_use_limits,
        rich_help_panel=_PANEL,
    ),
]


@dataclass(frozen=True)
class Prepared:
    """A chain that knows the columns of its logs, and the logs, opened.

    Attributes:
        logs: the chain, and what it reads.
        progress: called with how far reading has come; passes it on to its listener.
    """

    logs: DeclaredLogs
    progress: Relay

    def events(self, folder: Path) -> dict[str, Iterator[Value]]:
        """The events of the logs in the stated order; they wait in the folder."""
        from whence.engine.runners.given_logs import take_in

        kept = take_in(folder, self.logs.chain, self.logs.sources)
        return {name: log.read() for name, log in kept.items()}


def chain_in(file: Path, allow: list[str] | None) -> Chain:
    """Read a chain file.

    The settings files are looked at only if it calls functions of the user's own, so that a command
    that needs no graph starts without importing its driver.

    Args:
        file: the chain file.
        allow: modules whose functions it may call, on top of those of the settings files.

    Raises:
        DefinitionError: it is no chain, or calls what it may not.
        ParameterError: a module that cannot be allowed.
    """
    from whence.engine.functions import AllowedFunctions, checked_modules
    from whence.engine.language.chain_file import load_chain

    given = checked_modules(allow or ())

    def modules() -> frozenset[str]:
        from whence.store.allowing import own_functions

        return own_functions(given).modules

    return load_chain(file, allow=AllowedFunctions(modules))


def prepare(
    chain: Chain, logs: list[str] | None, reading: Log, record: Path | None = None
) -> Prepared:
    """Open the logs of a chain and declare every column; no event of a file is read.

    Args:
        chain: what is to read them.
        logs: as the options name them.
        reading: what the options declare of them.
        record: where the record is, whose streams may be logs too.

    Raises:
        BadParameter: an option is not of the form that it should have.
        LogError: a log cannot be opened as declared, or lacks a column that is named.
    """
    from whence.engine.runners.given_logs import declare_logs

    files, relay, kinds = _files(logs or [], chain.inputs), Relay(), reading.columns or {}

    def stated(name: str) -> Log:
        known = reading.over(chain.logs.get(name))
        return _own_kinds(files[name], known, kinds) if len(files) > 1 and kinds else known

    declared = declare_logs(
        chain, files, stated, lambda file, known: opened(file, known, relay, record)
    )
    _check_known(kinds, declared.sources)
    return Prepared(declared, relay)


def _own_kinds(file: Path, stated: Log, kinds: Mapping[str, str]) -> Log:
    """Of the kinds that hold for all logs, only those of columns that this one has."""
    declared = {c: k for c, k in (stated.columns or {}).items() if kinds.get(c) != k}
    has = opened(file, replace(stated, columns=declared), Relay()).columns
    return replace(stated, columns=declared | {c: k for c, k in kinds.items() if c in has})


def _files(logs: list[str], inputs: tuple[str, ...]) -> dict[str, Path]:
    files: dict[str, Path] = {}
    first, known = next(iter(inputs)), ", ".join(inputs)
    for given in logs:
        name, sign, path = given.partition("=")
        if not sign or (name not in inputs and Path(given).exists()):
            if len(inputs) > 1:
                msg = f"expected NAME=FILE, with one of {known}; got {given!r}; try {first}={given}"
                raise typer.BadParameter(msg, param_hint="--log")
            name, path = first, given
        if name not in inputs:
            msg = f"expected one of {known}; got {name!r}; try {first}={path}"
            raise typer.BadParameter(msg, param_hint="--log")
        if name in files:
            msg = f"expected each log once; got {name!r} twice; try only one of them"
            raise typer.BadParameter(msg, param_hint="--log")
        files[name] = Path(path)
    missing = [name for name in inputs if name not in files]
    if logs and missing:
        msg = f"expected {known}; got {', '.join(files)}; try --log {missing[0]}=FILE"
        raise typer.BadParameter(msg, param_hint="--log")
    return files


def _check_known(kinds: Mapping[str, str], sources: Mapping[str, Source]) -> None:
    columns = [column for source in sources.values() for column in source.columns]
    for column in kinds:
        if sources and column not in columns:
            near = get_close_matches(column, columns, n=1)
            hint = f"{near[0]!r} (did you mean that?)" if near else "one of " + ", ".join(columns)
            msg = f"--type: expected a column of {', '.join(sources)}; got {column!r}; try {hint}"
            raise LogError(msg)
