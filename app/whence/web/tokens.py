"""The token of a page, and the one-time codes that are made from it."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from pathlib import Path

from whence.engine.errors import ParameterError
from whence.store.server.folders import write_private

__all__ = ["CODE_SECONDS", "Codes", "Token"]

SHORTEST = 16
CODE_SECONDS = 60
_TIME, _NONCE, _MAC = 8, 16, 32


class Token:
    """What opens the page; it is compared in constant time and never printed."""

    def __init__(self, text: str) -> None:
        if len(text) < SHORTEST:
            msg = (
                f"a token: expected at least {SHORTEST} characters; got {len(text)}; "
                "try without a file, and one is made"
            )
            raise ParameterError(msg)
        self._text = text

    def __repr__(self) -> str:
        """Show nothing of it."""
        return "Token(…)"

    @classmethod
    def kept_in(cls, path: Path, *, make: bool = True) -> Token:
        """The token of a file.

        Args:
            path: the file, which only its owner may be able to read.
            make: whether a file that is not there is made.

        Raises:
            ParameterError: the file is missing, is open to others, or holds no token.
        """
        try:
            if make and not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                write_private(path, secrets.token_urlsafe(32) + "\n")
            elif path.stat().st_mode & 0o077:
                msg = (
                    f"{path}: expected a file that only its owner can read; "
                    f"got others who can; try chmod 600 {path}"
                )
                raise ParameterError(msg)
            lines = path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError as error:
            msg = f"{path}: expected the token of a page; got no file; try whence web"
            raise ParameterError(msg) from error
        except (OSError, UnicodeDecodeError) as error:
            msg = f"{path}: expected a file with the token; got: {error}; try another file"
            raise ParameterError(msg) from error
        return cls(lines[0].strip() if lines else "")

    def matches(self, given: str) -> bool:
        """Whether a text is the token."""
        return hmac.compare_digest(given.encode(), self._text.encode())

    def new_code(self, port: int) -> str:
        """A code that opens the page at a port once, within a minute.

        It reveals nothing of the token. Another process that has the token can make it; the page
        checks it without having made it.
        """
        issued = int(time.time() * 1000).to_bytes(_TIME, "big") + secrets.token_bytes(_NONCE)
        return base64.urlsafe_b64encode(issued + self.mac(port, issued)).decode().rstrip("=")

    def mac(self, port: int, issued: bytes) -> bytes:
        """What authenticates a code."""
        text = b"whence page code %d " % port + issued
        return hmac.new(self._text.encode(), text, hashlib.sha256).digest()


class Codes:
    """Checks one-time codes, each once.

    Codes from before the start are refused, so that a restart does not make one good again.
    """

    def __init__(self, token: Token, clock: Callable[[], float] = time.time) -> None:
        """Accept codes made from this token, from now on."""
        self._token = token
        self._clock = clock
        self._began = clock() - 0.01  # codes are made in whole milliseconds
        self._used: dict[bytes, float] = {}

    def use(self, code: str, port: int) -> bool:
        """Whether a code is good; it is not good a second time."""
        now = self._clock()
        self._used = {nonce: ends for nonce, ends in self._used.items() if ends > now}
        try:
            found = base64.urlsafe_b64decode(code.encode("ascii") + b"==")
        except (UnicodeEncodeError, binascii.Error):
            return False
        issued, mac = found[: _TIME + _NONCE], found[_TIME + _NONCE :]
        if len(mac) != _MAC or not hmac.compare_digest(mac, self._token.mac(port, issued)):
            return False
        made, nonce = int.from_bytes(issued[:_TIME], "big") / 1000, issued[_TIME:]
        if not self._began <= made <= now + 1 or now - made > CODE_SECONDS:
            return False
        if nonce in self._used:
            return False
        self._used[nonce] = made + CODE_SECONDS + 2
        return True
