"""The record's secret: the key of the digests of single events."""

from __future__ import annotations

import hashlib
import os
import secrets
from pathlib import Path

from whence.engine.errors import LogError

__all__ = ["record_secret", "secret_name"]

_FILE = "secret"


def record_secret(root: Path) -> bytes:
    """The secret of a record, made when it is first needed; only its owner can read the file.

    Raises:
        LogError: the file is not as this wrote it.
    """
    path = root / _FILE
    if not path.exists():
        root.mkdir(parents=True, exist_ok=True)
        beside = root / f".{_FILE}.{secrets.token_hex(8)}"
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_hex(32) + "\n")
        try:
            os.link(beside, path)  # never replaces one that another process has just made
        except FileExistsError:
            pass
        finally:
            beside.unlink()
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


def secret_name(secret: bytes) -> str:
    """Tells secrets apart and tells nothing of them."""
    return hashlib.sha256(b"whence record secret " + secret).hexdigest()[:16]
