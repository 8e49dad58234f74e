"""The settings file ``whence.toml``: which one counts, and what its tables say."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whence.engine.errors import SettingsError

__all__ = ["WhenceToml", "read_whence_toml"]

KEYS = ("uri", "username", "password_file", "database")


@dataclass(frozen=True)
class WhenceToml:
    """A settings file that was found.

    Attributes:
        path: where it is.
        neo4j: which server is meant.
        metadata: what is to be told of runs: controller, purpose, legal basis, owner and so on.
    """

    path: Path
    neo4j: dict[str, str]
    metadata: dict[str, str]


def read_whence_toml(folder: Path) -> WhenceToml | None:
    """Read the nearest ``whence.toml``, from this folder upwards.

    A file that belongs to another user is passed over: in a shared place like /tmp anybody could
    lay one, and so send our data to a server of theirs.
    """
    for level in [folder.absolute(), *folder.absolute().parents]:
        path = level / "whence.toml"
        try:
            if path.is_file() and path.stat().st_uid in (0, os.getuid()):
                return WhenceToml(path, *_tables(path))
        except OSError as error:
            msg = f"expected to read {path}; got {error.strerror}; try chmod u+r on it"
            raise SettingsError(msg) from error
    return None


def _tables(path: Path) -> tuple[dict[str, str], dict[str, str]]:
    try:
        whole = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        # The parser's own words may repeat a line of the file, and a password could stand in it.
        msg = f"{path}: expected TOML; got something else; try a line like: uri = 'bolt://…'"
        raise SettingsError(msg) from None
    return _neo4j(path, whole.get("neo4j", {})), _metadata(path, whole.get("metadata", {}))


def _metadata(path: Path, table: Any) -> dict[str, str]:
    if not isinstance(table, dict) or not all(isinstance(v, str) for v in table.values()):
        msg = (
            f"{path}: expected texts in [metadata]; got something else; "
            "try a line like: purpose = 'credit checks'"
        )
        raise SettingsError(msg)
    return table


def _neo4j(path: Path, table: Any) -> dict[str, str]:
    if not isinstance(table, dict):
        msg = f"{path}: expected a table [neo4j]; got a single value; try [neo4j] on its own line"
        raise SettingsError(msg)
    if "password" in table:
        msg = (
            f"{path}: expected no password in this file; got one; "
            "try password_file = 'PATH' and write it there, readable by you only"
        )
        raise SettingsError(msg)
    for key, value in table.items():
        if key not in KEYS or not isinstance(value, str):
            msg = (
                f"{path}: expected texts {', '.join(KEYS)} in [neo4j]; got {key!r}; try one of them"
            )
            raise SettingsError(msg)
    return table
