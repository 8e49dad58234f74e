"""What `run` and `check` share: a chain file, its logs, and the kinds of their columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whence.engine.errors import LogError

if TYPE_CHECKING:
    from whence.engine.chain import Chain

__all__ = ["ChainFile", "Delimiter", "Encoding", "Logs", "Prepared", "Types", "prepare"]

ChainFile = Annotated[
    Path, typer.Argument(metavar="CHAIN", help="The chain file, YAML or JSON.", show_default=False)
]
Logs = Annotated[
    list[str] | None,
    typer.Option(
        "--log",
        metavar="FILE",
        help="A CSV log; NAME=FILE, once for each, if the chain reads several.",
    ),
]
Types = Annotated[
    list[str] | None,
    typer.Option(
        "--type", metavar="COLUMN=KIND", help="The kind of a column that is not text: p=integer."
    ),
]
Delimiter = Annotated[str, typer.Option(help="What separates cells in the logs.")]
Encoding = Annotated[str, typer.Option(help="How the logs are encoded.")]


@dataclass(frozen=True)
class Prepared:
    """A chain that knows the columns of its logs, and where the logs are."""

    chain: Chain
    files: Mapping[str, Path]


def prepare(
    chain: Chain,
    logs: list[str] | None,
    types: list[str] | None,
    *,
    delimiter: str,
    encoding: str,
) -> Prepared:
    """Match logs with the chain's inputs and declare every column; no event is read.

    Raises:
        BadParameter: an option is not of the form that it should have.
        LogError: a log does not have a column that is named.
    """
    from whence.engine.chain_file import with_columns
    from whence.engine.sources import csv_columns, csv_header

    files = _files(logs or [], chain.inputs)
    kinds = _kinds(types or [])
    headers = {
        name: csv_header(file, delimiter=delimiter, encoding=encoding)
        for name, file in files.items()
    }
    _check_known(kinds, headers)
    for name, file in files.items():
        declared = chain.logs.get(name)
        columns = dict((declared.columns if declared else None) or {})
        columns.update({c: kind for c, kind in kinds.items() if c in headers[name]})
        for role in ("case", "activity", "time"):
            column = getattr(declared, role, None)
            if column is not None and column not in headers[name]:
                hint = _near(column, headers[name])
                msg = (
                    f"{file.name}: expected the column {column!r}, declared as {role}; "
                    f"got no such column; try {hint}"
                )
                raise LogError(msg)
        known = csv_columns(file, columns, delimiter=delimiter, encoding=encoding)
        chain = with_columns(chain, name, known)
    return Prepared(chain, files)


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


def _kinds(types: list[str]) -> dict[str, str]:
    kinds = {}
    for given in types:
        column, sign, kind = given.rpartition("=")
        if not sign:
            msg = f"expected COLUMN=KIND; got {given!r}; try {given}=integer"
            raise typer.BadParameter(msg, param_hint="--type")
        kinds[column] = kind
    return kinds


def _check_known(kinds: Mapping[str, str], headers: Mapping[str, list[str]]) -> None:
    columns = [column for header in headers.values() for column in header]
    for column in kinds:
        if headers and column not in columns:
            msg = (
                f"--type: expected a column of {', '.join(headers)}; got {column!r}; "
                f"try {_near(column, columns)}"
            )
            raise LogError(msg)


def _near(name: str, candidates: list[str]) -> str:
    near = get_close_matches(name, candidates, n=1)
    return f"{near[0]!r} (did you mean that?)" if near else "one of " + ", ".join(candidates)
