"""Middleware in front of the page: limits, origins, sessions and headers of every request."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from urllib.parse import parse_qs, quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from whence.web.access import Access, Refusal
from whence.web.sessions import Session

__all__ = ["HEADERS", "Guard", "form_field"]

OPEN = ("/login", "/enter", "/static/")
"""What is answered without a session."""
DATA = ("/part/", "/take/", "/api/", "/health")
"""What the page itself asks for, not what a user navigates to."""
STRANGERS_BODY = 4096
OWN_BODY = 65_536
BODY_SECONDS = 10.0
HEADERS = {
    # Nothing from any other host, no script and no style but the page's own files: what stands in
    # a log cannot do anything, even if it were not escaped.
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # With no-referrer, browsers would send the page's own forms without their origin.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class Guard:
    """Refuses strangers and other sites, and adds the headers to every answer."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app = app
        self.access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
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

        app = self.app
        try:
            receive = await self._checked(scope, receive)
        except Refusal as refusal:
            app = _refused(scope, refusal)
        await app(scope, receive, with_headers)

    async def _checked(self, scope: Scope, receive: Receive) -> Receive:
        """Let a request pass, with its body read, or refuse it."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        self.access.check_host(scope, host)
        session = self.access.session(scope, headers)
        scope["whence.session"] = session
        program = session is None and self.access.is_bearer(scope, headers)
        own = _is_own(scope, headers, self.access.origin(scope, host))
        known = session is not None or program
        body = await _body(headers, receive, OWN_BODY if known else STRANGERS_BODY)
        if scope["path"].startswith(OPEN):
            return _replayed(body, receive)
        if not known:
            raise Refusal(HTTPStatus.UNAUTHORIZED, "A session is needed: open /login.")
        if session is not None:
            _check_intent(scope, session, body, own)
        return _replayed(body, receive)


def _refused(scope: Scope, refusal: Refusal) -> ASGIApp:
    """The answer; a view without a session redirects to the login."""
    path: str = scope["path"]
    navigates = scope["method"] in ("GET", "HEAD") and not path.startswith(DATA)
    if refusal.status == HTTPStatus.UNAUTHORIZED and navigates and not refusal.headers:
        query = scope["query_string"].decode("latin-1")
        back = path + (f"?{query}" if query else "")
        return RedirectResponse("/login" if back == "/" else f"/login?next={quote(back)}", 303)
    headers = dict(refusal.headers)
    if refusal.status in (HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.REQUEST_TIMEOUT):
        headers["connection"] = "close"  # what is left of the body is not read
    return PlainTextResponse(refusal.words, refusal.status, headers)


def _is_own(scope: Scope, headers: Headers, origin: str) -> bool:
    """Whether a request comes from the page itself for certain; from elsewhere one may navigate.

    Raises:
        Refusal: another site sent it, and it is no navigation to a view.
    """
    site, said = headers.get("sec-fetch-site"), headers.get("origin")
    elsewhere = site in ("cross-site", "same-site")  # another port of this host is the same site
    navigation = (
        scope["method"] in ("GET", "HEAD")
        and headers.get("sec-fetch-mode") == "navigate"
        and headers.get("sec-fetch-dest") == "document"
        and not scope["path"].startswith((*DATA, "/static/"))
    )
    foreign = said is not None and said.casefold() != origin
    if foreign or (elsewhere and not navigation):
        words = "This page takes requests from its own pages only."
        if foreign:
            words += f" It is {origin}; whence web --public says where browsers find it."
        raise Refusal(HTTPStatus.FORBIDDEN, words)
    # An older browser, or one that connects without TLS to another machine, sends no such header;
    # no other page can set this one.
    return site in ("same-origin", "none") or said is not None or "x-part" in headers


def _check_intent(scope: Scope, session: Session, body: bytes, own: bool) -> None:
    """Refuse what a browser sends without its user meaning it.

    Raises:
        Refusal: nothing shows that the request comes from the page itself.
    """
    if scope["method"] not in ("GET", "HEAD"):
        if not session.sent(form_field(body, "token")):
            words = "This form is from another login: reload the page and try again."
            raise Refusal(HTTPStatus.FORBIDDEN, words)
    elif scope["path"].startswith(DATA) and not own:
        raise Refusal(HTTPStatus.FORBIDDEN, "This page takes requests from its own pages only.")


def form_field(body: bytes, name: str) -> str:
    """A field of a form, or nothing."""
    try:
        return parse_qs(body.decode(errors="replace"), max_num_fields=20).get(name, [""])[0]
    except ValueError:  # more fields than any form of the page has
        return ""


async def _body(headers: Headers, receive: Receive, most: int) -> bytes:
    """The body of a request, if it is short and comes soon.

    Raises:
        Refusal: it is too long, or does not come.
    """
    length = headers.get("content-length", "0")
    chunked = "transfer-encoding" in headers
    too_long = Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"At most {most} bytes are read.")
    if not chunked and (not length.isdecimal() or len(length) > 15 or int(length) > most):
        raise too_long
    if not chunked and not int(length):
        return b""
    read = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                read += message.get("body", b"")
                if len(read) > most:
                    raise too_long
                if message["type"] != "http.request" or not message.get("more_body"):
                    return bytes(read)
    except TimeoutError:
        raise Refusal(HTTPStatus.REQUEST_TIMEOUT, "The request took too long to arrive.") from None


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Give a body that was read once more; after it comes what comes."""
    done = False

    async def again() -> Message:
        nonlocal done
        if done:
            return await receive()
        done = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
