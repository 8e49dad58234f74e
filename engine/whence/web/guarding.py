"""Who may see the page: this machine, and elsewhere whoever has the token."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
from http.cookies import SimpleCookie
from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from whence.engine.errors import ParameterError
from whence.store.server.folders import write_private

__all__ = ["HEADERS", "Guard", "Token", "is_loopback"]

COOKIE = "whence"
OPEN = ("/login", "/static/")
SHORTEST = 16
HEADERS = {
    # Nothing from any other host, no script and no style but the page's own files: what stands in
    # a log cannot do anything, even if it were not escaped.
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class Token:
    """What opens the page from elsewhere; it is compared in constant time and never printed."""

    def __init__(self, text: str) -> None:
        """Take a token."""
        if len(text) < SHORTEST:
            msg = (
                f"a token: expected at least {SHORTEST} characters; got {len(text)}; "
                "try without a file, and one is made"
            )
            raise ParameterError(msg)
        self._text = text

    def __repr__(self) -> str:
        """Say nothing of it."""
        return "Token(…)"

    @classmethod
    def kept_in(cls, path: Path) -> Token:
        """The token of a file; it is made, for its owner alone, if the file is not there."""
        try:
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                write_private(path, secrets.token_urlsafe(32) + "\n")
            elif path.stat().st_mode & 0o077:
                msg = (
                    f"{path}: expected a file that only its owner can read; "
                    f"got others who can; try chmod 600 {path}"
                )
                raise ParameterError(msg)
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            msg = f"{path}: expected a file with the token; got: {error}; try another file"
            raise ParameterError(msg) from error
        return cls(lines[0].strip() if lines else "")

    def is_told(self, given: str) -> bool:
        """Whether somebody said the token."""
        return hmac.compare_digest(given.encode(), self._text.encode())

    def pass_(self) -> str:
        """What a browser keeps instead of the token."""
        return hmac.new(self._text.encode(), b"whence page", hashlib.sha256).hexdigest()

    def is_pass(self, given: str) -> bool:
        """Whether a browser has been let in."""
        return hmac.compare_digest(given.encode(), self.pass_().encode())


class Guard:
    """Stands before the page: refuses strangers, and adds the headers to every answer."""

    def __init__(self, app: ASGIApp, token: Token | None) -> None:
        """Guard an app; without a token only this machine's own names for itself are answered."""
        self.app = app
        self.token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                if not scope["path"].startswith("/static/"):
                    headers["cache-control"] = "no-store"
            await send(message)

        refusal = self._refusal(scope)
        await (refusal or self.app)(scope, receive, with_headers)

    def _refusal(self, scope: Scope) -> ASGIApp | None:
        headers = Headers(scope=scope)
        if self.token is None:
            # Else a page elsewhere could let its own name lead here, and read along.
            host = headers.get("host", "")
            name = host[: host.rindex("]") + 1] if host.startswith("[") else host.partition(":")[0]
            if not is_loopback(name):
                return PlainTextResponse("This page answers on this machine only.", 421)
            return None
        if scope["path"].startswith(OPEN):
            return None
        cookies: SimpleCookie = SimpleCookie()
        cookies.load(headers.get("cookie", ""))
        if COOKIE in cookies and self.token.is_pass(cookies[COOKIE].value):
            return None
        kind, _, said = headers.get("authorization", "").partition(" ")
        if kind.casefold() == "bearer" and self.token.is_told(said.strip()):
            return None
        if scope["method"] == "GET" and not scope["path"].startswith(("/part/", "/take/")):
            return RedirectResponse("/login", 303)
        return PlainTextResponse("The token is needed: open /login.", 401)
