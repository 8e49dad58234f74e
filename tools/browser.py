"""The system's Chromium and the page's server, for the tests of the page and its benchmark."""

from __future__ import annotations

import http.client
import re
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlencode, urlsplit

import uvicorn
from playwright.sync_api import Browser, BrowserContext, Playwright

from whence.web import Access, Asker, Token, create_app
from whence.web.heads import BoundedHeads
from whence.web.pool import Pool

__all__ = ["TOKEN", "Served", "launched", "served"]

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def launched(playwright: Playwright) -> Browser:
    """Start the Chromium that is on PATH; nothing is fetched.

    Raises:
        FileNotFoundError: there is none.
    """
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        msg = "no Chromium on PATH, so the page is not seen; try apt-get install chromium"
        raise FileNotFoundError(msg)
    return playwright.chromium.launch(executable_path=found, args=list(FLAGS))


TOKEN = "the token of the pages that are served here"


class Served(str):
    """The address of a page, with a session that was opened as a browser does it."""

    __slots__ = ("cookie",)

    cookie: str

    @classmethod
    def at(cls, address: str, token: str) -> Served:
        """Log in with the token."""
        return cls(address)._let_in("POST", "/login", urlencode({"token": token}))

    @classmethod
    def entered(cls, link: str) -> Served:
        """Log in by a link."""
        parts = urlsplit(link)
        return cls(f"{parts.scheme}://{parts.netloc}")._let_in("GET", f"{parts.path}?{parts.query}")

    def _let_in(self, method: str, path: str, body: str = "") -> Served:
        connection = http.client.HTTPConnection(urlsplit(self).netloc, timeout=60)
        try:
            connection.request(method, path, body)
            said = connection.getresponse().getheader("set-cookie")
        finally:
            connection.close()
        if said is None:
            msg = f"expected the page at {self} to open; got a refusal"
            raise RuntimeError(msg)
        self.cookie = said.partition(";")[0]
        return self

    @property
    def headers(self) -> dict[str, str]:
        """What the page's own scripts send."""
        return {"Cookie": self.cookie, "X-Part": "1"}

    def form(self) -> str:
        """What the forms of a session send along."""
        connection = http.client.HTTPConnection(urlsplit(self).netloc, timeout=60)
        try:
            connection.request("GET", "/empty", headers=self.headers)
            found = re.search(
                r'name="form" content="([^"]+)"', connection.getresponse().read().decode()
            )
        finally:
            connection.close()
        assert found is not None
        return found[1]

    def admit(self, context: BrowserContext) -> None:
        """Give a browser the session."""
        name, _, value = self.cookie.partition("=")
        context.add_cookies([{"name": name, "value": value, "url": self, "sameSite": "Lax"}])


@contextmanager
def served(
    asker: Asker, token: Token | Access | None = None, *, pool: Pool | None = None
) -> Iterator[Served]:
    """Serve the page in a thread, on a free port of loopback; gives its address.

    Args:
        asker: the graph and the record.
        token: what opens the page; without one it has a token that is known here, and a session.
        pool: its workers.
    """
    listening = socket.create_server(("127.0.0.1", 0))
    app = create_app(asker, token or Token(TOKEN), pool=pool)
    config = uvicorn.Config(
        app,
        log_level="error",
        http=BoundedHeads,
        ws="none",
        lifespan="on",
        proxy_headers=False,
        access_log=False,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    until = time.monotonic() + 30
    while not server.started and time.monotonic() < until:
        time.sleep(0.01)
    if not server.started:
        msg = "the page's server did not start within 30 s"
        raise TimeoutError(msg)
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    try:
        yield Served.at(address, TOKEN) if token is None else Served(address)
    finally:
        server.should_exit = True
        thread.join(30)
        listening.close()
