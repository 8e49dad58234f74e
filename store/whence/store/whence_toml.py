"""The settings files: a folder's ``whence.toml`` and the user's own configuration.

A folder's file may come from anywhere, with a clone for instance. What it says of the server, and
which modules it allows, counts once the user has trusted it (`whence.store.trust`); its metadata
counts always. The user's own configuration needs no trust.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import platformdirs

from whence.engine.errors import SettingsError
from whence.store.trust import is_trusted

__all__ = [
    "WhenceToml",
    "configuration_file",
    "configured_metadata",
    "find_whence_toml",
    "read_configuration",
    "read_whence_toml",
    "shown",
]

KEYS = ("uri", "username", "password_file", "database")

_WARNED: set[tuple[Path, str]] = set()
"""Files, with their digests, of which this process has said that they are not trusted."""


@dataclass(frozen=True)
class WhenceToml:
    """A settings file that was found.

    Attributes:
        path: where it is.
        digest: SHA-256 of its bytes.
        neo4j: which server is meant.
        metadata: what is to be told of runs: controller, purpose, legal basis, owner and so on.
        allow: the modules whose functions chain files may call.
    """

    path: Path
    digest: str
    neo4j: dict[str, str]
    metadata: dict[str, str]
    allow: tuple[str, ...] = ()

    @property
    def own(self) -> bool:
        """Whether it is the user's own configuration."""
        return self.path == configuration_file()

    def password_file(self) -> Path | None:
        """Where the password is, with all links followed.

        Raises:
            SettingsError: a folder's file names one that is not in that folder.
        """
        if "password_file" not in self.neo4j:
            return None
        folder = self.path.parent.resolve()
        try:
            place = (folder / Path(self.neo4j["password_file"]).expanduser()).resolve()
        except (OSError, RuntimeError, ValueError) as error:  # a link to itself, ~nobody, a NUL
            msg = (
                f"{shown(self.path)}: expected the path of a password_file; got "
                f"{self.neo4j['password_file']!r}; try the path of a file beside it"
            )
            raise SettingsError(msg) from error
        if not self.own and not place.is_relative_to(folder):
            msg = (
                f"{shown(self.path)}: expected a password_file inside its folder; got "
                f"{self.neo4j['password_file']!r}; try NEO4J_PASSWORD_FILE, or your own "
                f"configuration {shown(configuration_file())}"
            )
            raise SettingsError(msg)
        return place

    def sensitive(self) -> tuple[str, ...]:
        """The names of what counts only if the file is trusted."""
        return (*self.neo4j, *(("allow",) if self.allow else ()))


def configuration_file() -> Path:
    """The user's own configuration: ``WHENCE_CONFIG``, else in the platform's folder for it."""
    chosen = os.environ.get("WHENCE_CONFIG")
    if chosen:
        return Path(chosen).expanduser().absolute()
    return platformdirs.user_config_path("whence") / "config.toml"


def read_configuration() -> WhenceToml | None:
    """Read the user's own configuration, if there is one."""
    return _read(configuration_file())


def read_whence_toml(folder: Path) -> WhenceToml | None:
    """Read the nearest ``whence.toml``, from this folder upwards, as far as it counts.

    What counts only in a trusted file is left out of another one, with one line on standard error.
    """
    found = find_whence_toml(folder)
    if found is None or not found.sensitive() or is_trusted(found.path, found.digest):
        return found
    if (found.path, found.digest) not in _WARNED:
        _WARNED.add((found.path, found.digest))
        names = ", ".join(found.sensitive())
        line = f"{shown(found.path)} is not trusted: its {names} ignored; try whence trust"
        print(line, file=sys.stderr, flush=True)
    return replace(found, neo4j={}, allow=())


def configured_metadata(folder: Path) -> dict[str, str]:
    """What is to be told of runs: the folder's file comes before the user's own configuration."""
    found = (read_configuration(), read_whence_toml(folder))
    return {word: text for each in found if each for word, text in each.metadata.items()}


def find_whence_toml(folder: Path) -> WhenceToml | None:
    """Read the nearest ``whence.toml``, from this folder upwards, trusted or not.

    A file that belongs to another user is passed over: in a shared place like /tmp anybody could
    lay one, and so send our data to a server of theirs.
    """
    for level in [folder.absolute(), *folder.absolute().parents]:
        found = _read(level / "whence.toml")
        if found is not None:
            return found
    return None


def shown(path: Path) -> str:
    """A path on a terminal: the name of a folder may hold anything."""
    return str(path) if str(path).isprintable() else repr(str(path))


def _read(path: Path) -> WhenceToml | None:
    try:
        if not path.is_file() or path.stat().st_uid not in (0, os.getuid()):
            return None
        content = path.read_bytes()
    except OSError as error:
        msg = f"expected to read {shown(path)}; got {error.strerror}; try chmod u+r on it"
        raise SettingsError(msg) from error
    try:
        whole = tomllib.loads(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError):
        # The parser's own words may repeat a line of the file, and a password could stand in it.
        msg = f"{shown(path)}: expected TOML; got something else; try a line like: uri = 'bolt://…'"
        raise SettingsError(msg) from None
    return WhenceToml(
        path,
        hashlib.sha256(content).hexdigest(),
        _neo4j(path, whole.get("neo4j", {})),
        _metadata(path, whole.get("metadata", {})),
        _allow(path, whole.get("allow", [])),
    )


def _metadata(path: Path, table: Any) -> dict[str, str]:
    if not isinstance(table, dict) or not all(isinstance(v, str) for v in table.values()):
        msg = (
            f"{shown(path)}: expected texts in [metadata]; got something else; "
            "try a line like: purpose = 'credit checks'"
        )
        raise SettingsError(msg)
    return table


def _allow(path: Path, modules: Any) -> tuple[str, ...]:
    if not isinstance(modules, list) or not all(isinstance(m, str) for m in modules):
        msg = (
            f"{shown(path)}: expected a list of modules in allow; got something else; "
            "try allow = ['mypackage']"
        )
        raise SettingsError(msg)
    return tuple(modules)


def _neo4j(path: Path, table: Any) -> dict[str, str]:
    if not isinstance(table, dict):
        msg = (
            f"{shown(path)}: expected a table [neo4j]; got a single value; "
            "try [neo4j] on its own line"
        )
        raise SettingsError(msg)
    if "password" in table:
        msg = (
            f"{shown(path)}: expected no password in this file; got one; "
            "try password_file = 'PATH' and write it there, readable by you only"
        )
        raise SettingsError(msg)
    for key, value in table.items():
        if key not in KEYS or not isinstance(value, str):
            msg = (
                f"{shown(path)}: expected texts {', '.join(KEYS)} in [neo4j]; got {key!r}; "
                "try one of them"
            )
            raise SettingsError(msg)
    return table
