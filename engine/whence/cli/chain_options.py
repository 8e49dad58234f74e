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
from whence.engine.log import Log

if TYPE_CHECKING:
    from whence.engine.chain import Chain
    from whence.engine.sources.source import Source
    from whence.engine.values import Value

__all__ = ["ChainFile", "Logs", "Prepared", "prepare"]

ChainFile = Annotated[
    Path, typer.Argument(metavar="CHAIN", help="The chain file, YAML or JSON.", show_default=False)
]
Logs = Annotated[
    list[str] | None,
    typer.Option(
        "--log",
        metavar="FILE",
        help="A log: a file, folder, or run:ID/STREAM; NAME=FILE for each, if there are several.",
    ),
]


@dataclass(frozen=True)
class Prepared:
    """A chain that knows the columns of its logs, and the logs, opened.

    Attributes:
        chain: what to run.
        sources: the logs by their names in the chain.
        stated: what was declared of each, before anything was guessed.
        progress: told how far reading has come; tells whoever it is connected to.
    """

    chain: Chain
    sources: Mapping[str, Source]
    stated: Mapping[str, Log]
    progress: Relay

    def events(self, name: str, folder: Path) -> Iterator[Value]:
        """The events of a log in the stated order; what has to be sorted waits in the folder."""
        from whence.engine.record import ingest
        from whence.engine.sources import events_of
        from whence.engine.sources.declared import keys_to_order_by

        source, declared = self.sources[name], self.chain.logs.get(name)
        order = keys_to_order_by(source, declared)
        if order:
            return ingest(folder, name, source, declared=declared, order=order).read()
        if getattr(source, "plain", False):
            return (event["value"] for event in events_of(source))
        return events_of(source)


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
    from whence.engine.sources.declared import with_source

    files = _files(logs or [], chain.inputs)
    sources: dict[str, Source] = {}
    declared: dict[str, Log] = {}
    relay = Relay()
    for name, file in files.items():
        stated = reading.over(chain.logs.get(name))
        if len(files) > 1 and reading.columns:
            stated = _own_kinds(file, stated, reading.columns)
        sources[name] = opened(file, stated, relay, record)
        declared[name] = stated
        if not getattr(sources[name], "plain", False):
            chain = with_source(chain, name, sources[name], stated)
    _check_known(reading.columns or {}, sources)
    return Prepared(chain, sources, declared, relay)


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
