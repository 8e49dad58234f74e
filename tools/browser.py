"""The system's Chromium and the page's server, for the tests of the page and its benchmark."""

from __future__ import annotations

import shutil
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from playwright.sync_api import Browser, Playwright

from whence.web import Asker, Token, create_app

__all__ = ["launched", "served"]

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


@contextmanager
def served(asker: Asker, token: Token | None = None) -> Iterator[str]:
    """Serve the page in a thread, on a free port of loopback; gives its address."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(create_app(asker, token), log_level="error", ws="none", lifespan="on")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    until = time.monotonic() + 30
    while not server.started and time.monotonic() < until:
        time.sleep(0.01)
    if not server.started:
        msg = "the page's server did not start within 30 s"
        raise TimeoutError(msg)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(30)
        listening.close()
