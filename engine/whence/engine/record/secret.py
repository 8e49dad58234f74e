"""The record's secret: the key of the digests of single events."""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from pathlib import Path

from whence.engine.disk import writes_to
from whence.engine.errors import LogError
from whence.engine.record.files import whole_file
from whence.engine.record.remote import RemotePath

__all__ = ["record_secret", "secret_name"]

_FILE = "secret"
SETTLED = 0.5


def record_secret(root: Path) -> bytes:
    """The secret of a record, made when it is first needed; only its owner can read the file.

    At a URI, who can read it is up to the store.

    Raises:
        LogError: the file is not as this wrote it.
    """
    path = root / _FILE
    if isinstance(path, RemotePath):
        if not path.exists():
            whole_file(path, lambda file: _write(file, secrets.token_hex(32)))
            time.sleep(SETTLED)  # of two who make one at the same time both go by the last
    elif not path.exists():
        beside = root / f".{_FILE}.{secrets.token_hex(8)}"
        with writes_to(root):
            root.mkdir(parents=True, exist_ok=True)
            try:
                _write(beside, secrets.token_hex(32))
                os.link(beside, path)  # never replaces one that another process has just made
            except FileExistsError:
                pass
            finally:
                beside.unlink(missing_ok=True)
    try:
        found = bytes.fromhex(path.read_text(encoding="ascii").strip())
    except ValueError:
        found = b""
    if len(found) != 32:
        msg = (
            f"{path}: expected the record's secret of 32 bytes; got something else; "
            "try moving the file away: events of logs taken in before cannot be matched then"
        )
        raise LogError(msg)
    return found


def _write(path: Path, secret: str) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secret + "\n")


def secret_name(secret: bytes) -> str:
    """Tells secrets apart and tells nothing of them."""
    return hashlib.sha256(b"whence record secret " + secret).hexdigest()[:16]
