"""Who may see the page: a token, what comes of it, and the page's own addresses."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from urllib.parse import SplitResult, urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from whence.engine.errors import ParameterError
from whence.web.attempts import Attempts
from whence.web.sessions import SESSION_SECONDS, Session, Sessions, is_session_id
from whence.web.tokens import Codes, Token

__all__ = ["Access", "Refusal", "is_loopback"]

LONGEST_COOKIES = 16_384
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_PLAIN = re.compile(r"[\x20-\x7e\x80-\xff]*")


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


class Refusal(Exception):
    """A request that is not answered.

    Attributes:
        status: of HTTP.
        words: why, in one line.
        headers: what else to say.
    """

    def __init__(
        self, status: HTTPStatus, words: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(words)
        self.status = status
        self.words = words
        self.headers = dict(headers or {})


class Access:
    """Decides whom a request comes from."""

    def __init__(self, token: Token, public: str | None = None) -> None:
        """Begin without sessions.

        Args:
            token: what opens the page.
            public: the page's address for browsers, if a TLS proxy is in front of it. Its
                scheme decides whether cookies are ``Secure``; headers of a proxy are not believed.

        Raises:
            ParameterError: the address is none.
        """
        self.public = None if public is None else origin_of(public)
        self.codes = Codes(token)
        self.sessions = Sessions()
        self.attempts = Attempts()
        self._token = token

    def check_host(self, scope: Scope, host: str) -> None:
        """Refuse a name that is not the page's: another site could let its own name lead here.

        Raises:
            Refusal: it is another name.
        """
        name = _without_port(host)
        if is_loopback(name):
            return
        if self.public is not None:
            if host.casefold() == urlsplit(self.public).netloc:
                return
            raise Refusal(HTTPStatus.MISDIRECTED_REQUEST, f"This page is {self.public}/.")
        if is_loopback(_served_at(scope)[0]):
            words = "This page answers on this machine only."
            raise Refusal(HTTPStatus.MISDIRECTED_REQUEST, words)

    def origin(self, scope: Scope, host: str) -> str:
        """The origin that the page's own requests come from."""
        if self.public is not None and not is_loopback(_without_port(host)):
            return self.public
        return f"{scope['scheme']}://{host}".casefold()

    def cookie(self, scope: Scope) -> str:
        """The cookie's name: one for each port, since a host's pages share their cookies."""
        return f"whence-{_served_at(scope)[1]}"

    def session(self, scope: Scope, headers: Headers) -> Session | None:
        """The session that a request has.

        Raises:
            Refusal: its cookies are malformed.
        """
        name = self.cookie(scope)
        found: list[str] = []
        text = "; ".join(headers.getlist("cookie"))
        if len(text) > LONGEST_COOKIES or not _PLAIN.fullmatch(text):
            raise Refusal(HTTPStatus.BAD_REQUEST, "The cookies are malformed.")
        for piece in filter(None, (each.strip() for each in text.split(";"))):
            key, equals, value = piece.partition("=")
            if not equals or not _NAME.fullmatch(key):
                raise Refusal(HTTPStatus.BAD_REQUEST, f"The cookie {key[:60]!r} is malformed.")
            if key == name:
                found.append(value)
        if not found:
            return None
        if len(found) > 1 or not is_session_id(found[0]):
            drop = {"set-cookie": f"{name}=; Max-Age=0; Path=/; HttpOnly; SameSite=lax"}
            raise Refusal(HTTPStatus.BAD_REQUEST, f"The cookie {name!r} is malformed.", drop)
        return self.sessions.find(found[0])

    def is_bearer(self, scope: Scope, headers: Headers) -> bool:
        """Whether a program sent the token along.

        Raises:
            Refusal: the token is wrong, or its client has to wait.
        """
        kind, _, said = headers.get("authorization", "").partition(" ")
        if kind.casefold() != "bearer":
            return False
        if self.is_token(scope, said.strip()):
            return True
        raise Refusal(HTTPStatus.UNAUTHORIZED, "Wrong token.", self.patience(scope))

    def is_token(self, scope: Scope, given: str) -> bool:
        """Whether a client has sent the token; after a wrong one it waits.

        Raises:
            Refusal: it has to wait.
        """
        client = _client(scope)
        if self.attempts.wait(client):
            words = "Too many wrong tokens: wait a moment."
            raise Refusal(HTTPStatus.TOO_MANY_REQUESTS, words, self.patience(scope))
        if self._token.matches(given):
            self.attempts.succeeded(client)
            return True
        self.attempts.failed(client)
        return False

    def patience(self, scope: Scope) -> dict[str, str]:
        """The header that says how long a client waits."""
        return {"retry-after": str(int(self.attempts.wait(_client(scope))) + 1)}

    def admit(self, request: Request, answer: Response) -> None:
        """Begin a session, and give it to the browser."""
        answer.set_cookie(
            self.cookie(request.scope),
            self.sessions.open(),
            max_age=SESSION_SECONDS,
            httponly=True,
            secure=self._is_secure(request.scope),
            samesite="lax",  # links to a view work from elsewhere; the guard refuses all the rest
        )

    def dismiss(self, request: Request, answer: Response) -> None:
        """End a session, here and in the browser."""
        session: Session | None = request.scope["whence.session"]
        if session is not None:
            self.sessions.close(session)
        secure = self._is_secure(request.scope)
        answer.delete_cookie(
            self.cookie(request.scope), httponly=True, secure=secure, samesite="lax"
        )

    def enter(self, request: Request, code: str) -> bool:
        """Whether a one-time code opens the page."""
        return self.codes.use(code, _served_at(request.scope)[1])

    def _is_secure(self, scope: Scope) -> bool:
        public = self.public is not None and self.public.startswith("https:")
        return public or bool(scope["scheme"] == "https")


def origin_of(address: str) -> str:
    """The origin of an address.

    >>> origin_of("https://whence.example/")
    'https://whence.example'

    Raises:
        ParameterError: it is no address of a page.
    """
    parts, good = SplitResult("", "", "", "", ""), False
    with suppress(ValueError):
        parts = urlsplit(address)
        good = (
            parts.scheme in ("http", "https")
            and bool(parts.hostname)
            and parts.port != 0
            and "@" not in parts.netloc
            and (parts.path in ("", "/") and not parts.query and not parts.fragment)
        )
    if not good:
        msg = (
            f"--public: expected the page's address for browsers; got {address[:200]!r}; "
            "try one such as https://whence.example"
        )
        raise ParameterError(msg)
    return f"{parts.scheme}://{parts.netloc}".casefold()


def _without_port(host: str) -> str:
    return host[: host.find("]") + 1] if host.startswith("[") else host.partition(":")[0]


def _served_at(scope: Scope) -> tuple[str, int]:
    host, port = scope["server"]
    return host, port or 0


def _client(scope: Scope) -> str:
    return (scope.get("client") or ("", 0))[0]
