"""A password that shows where it is, never what it is."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import NoReturn

from whence.engine.errors import SettingsError

__all__ = ["Secret"]

_LONGEST = 1 << 16
"""Bytes of a password, at most: a device may have no end."""


class Secret:
    """A password, read only when it is used.

    It can travel to another process (a Spark task, say) as the place where the password is. One
    that was handed over as a value cannot: it would end up in files and logs on the way.

    >>> Secret.of("hush")
    <secret given by the caller>
    >>> str(Secret.in_environment("NEO4J_PASSWORD"))
    '<secret in the environment variable NEO4J_PASSWORD>'
    """

    __slots__ = ("_kind", "_place", "_regular")

    def __init__(self, kind: str, place: str, regular: bool = False) -> None:
        """Use one of the three makers below instead."""
        self._kind = kind
        self._place = place
        self._regular = regular

    @classmethod
    def in_file(cls, path: Path, *, regular: bool = False) -> Secret:
        """Name the file whose first line is the password.

        Args:
            path: the file.
            regular: refuse a pipe or a device, which could make the reader wait forever.
        """
        return cls("file", str(path.absolute()), regular)

    @classmethod
    def in_environment(cls, name: str) -> Secret:
        """Name the environment variable that holds the password."""
        return cls("environment", name)

    @classmethod
    def of(cls, value: str) -> Secret:
        """Take the password itself."""
        return cls("value", value)

    @property
    def place(self) -> str:
        """Say in words where the password is."""
        if self._kind == "file":
            return f"in the file {self._place}"
        if self._kind == "environment":
            return f"in the environment variable {self._place}"
        return "given by the caller"

    def reveal(self) -> str:
        """Read the password: for the one call that needs it."""
        if self._kind == "value":
            return self._place
        if self._kind == "environment":
            value = os.environ.get(self._place, "")
        else:
            try:
                value = _first_line(self._place, regular=self._regular)
            except (OSError, UnicodeDecodeError) as error:
                reason = error.strerror or error if isinstance(error, OSError) else "no text"
                msg = (
                    f"expected a password {self.place}; got {reason}; "
                    "try a file whose first line is the password"
                )
                raise SettingsError(msg) from None
        if not value:
            msg = f"expected a password {self.place}; got nothing; try writing it there"
            raise SettingsError(msg)
        return value

    def __repr__(self) -> str:
        """Show the place only."""
        return f"<secret {self.place}>"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        """Compare places, and values that were given."""
        if not isinstance(other, Secret):
            return NotImplemented
        return (self._kind, self._place) == (other._kind, other._place)

    def __hash__(self) -> int:
        """Agree with equality."""
        return hash((self._kind, self._place))

    def __reduce__(self) -> tuple[type[Secret], tuple[str, str, bool]]:
        """Travel as the place."""
        if self._kind == "value":
            self._refuse()
        return Secret, (self._kind, self._place, self._regular)

    def _refuse(self) -> NoReturn:
        msg = (
            "expected a password that can travel by its place; got one given as a value; "
            "try NEO4J_PASSWORD_FILE or NEO4J_PASSWORD"
        )
        raise SettingsError(msg)


def _first_line(path: str, *, regular: bool) -> str:
    # Opened without waiting, a pipe that no process writes to can be told from a file.
    how = os.O_NONBLOCK if regular else 0
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | how)) as file:
        if regular and not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            msg = "a pipe or device, no regular file"
            raise OSError(msg)
        return file.readline(_LONGEST).decode("utf-8").rstrip("\r\n")
