"""Where records are kept: a folder of this machine, or a URI."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote

from platformdirs import user_data_path

from whence.engine.errors import LogError
from whence.engine.record.remote import SCHEMES, RemotePath

__all__ = ["place_of", "record_place"]

_URI = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]+):/+(?P<rest>.*)", re.DOTALL)
"""One slash is enough: a `Path` that was made of a URI has lost the other."""


def record_place(given: str | Path | None = None) -> Path:
    """The record's place: as given, ``WHENCE_RECORD``, or in the user's data folder."""
    if given is not None:
        return place_of(given)
    if os.environ.get("WHENCE_RECORD"):
        return place_of(os.environ["WHENCE_RECORD"])
    home = os.environ.get("WHENCE_HOME")
    return (Path(home) if home else user_data_path("whence", appauthor=False)) / "record"


def place_of(given: str | Path) -> Path:
    """A folder's path, or a URI's.

    Raises:
        LogError: a URI that names no place, or that holds more than a place.

    >>> place_of("file:///var/record"), place_of("s3://bucket/record")
    (PosixPath('/var/record'), RemotePath('s3://bucket/record'))
    """
    if isinstance(given, RemotePath):
        return given
    found = _URI.fullmatch(str(given))
    if found is None:
        _check_folder(str(given))
        return Path(given)
    scheme, rest = found["scheme"], found["rest"]
    if not rest and scheme in ("file", *SCHEMES):
        raise _unnamed(scheme)
    if scheme == "file":
        return Path("/" + unquote(rest.removeprefix("localhost/")))
    if scheme not in SCHEMES:
        msg = (
            f"the record's place: expected a folder, or a URI of file, {', '.join(SCHEMES)}; "
            f"got one of {scheme!r}; try one of these"
        )
        raise LogError(msg)
    host, _, path = rest.partition("/")
    secret = "@" in host and (scheme not in ("abfs", "abfss") or ":" in host.partition("@")[0])
    if secret or "?" in rest:
        # What it is may be a secret: it is not said again.
        msg = (
            f"the record's place: expected {scheme}://NAME/FOLDER; got one with access or settings "
            "in it; try the environment (such as AWS_PROFILE) or the machine's role for these"
        )
        raise LogError(msg)
    if not host or not path.strip("/"):
        msg = (
            f"the record's place: expected {scheme}://NAME/FOLDER; got {str(given)!r}; "
            "try with both"
        )
        raise LogError(msg)
    return RemotePath(f"{scheme}://{host}/{path}")


def _check_folder(given: str) -> None:
    """Refuse what begins as a URI: ``s3://`` becomes ``s3:`` when a `Path` is made of it."""
    scheme, colon, _ = given.partition(":")
    if colon and scheme in ("file", *SCHEMES):
        raise _unnamed(scheme)


def _unnamed(scheme: str) -> LogError:
    """The error for a URI without a place; what else is in it may be a secret."""
    wanted = "file:///FOLDER" if scheme == "file" else f"{scheme}://NAME/FOLDER"
    return LogError(
        f"the record's place: expected {wanted}; got {scheme}: without a name behind //; "
        "try with one, or the full path of a folder that is called so"
    )
