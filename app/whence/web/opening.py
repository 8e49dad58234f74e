"""Open the page in a browser, without anything secret among the browser's arguments."""

from __future__ import annotations

import secrets
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from whence.store.server.folders import whence_home, write_private
from whence.web.html import el
from whence.web.tokens import CODE_SECONDS

__all__ = ["opened"]


@contextmanager
def opened(link: str) -> Iterator[None]:
    """Open a one-time link by a private file that leads there.

    All users of a machine see the arguments of a browser: they name the file, which only its owner
    can read. It is removed when the link's time is over, or when this ends.
    """
    path = _written(link)
    timer = threading.Timer(CODE_SECONDS, path.unlink, kwargs={"missing_ok": True})
    timer.daemon = True
    timer.start()
    # A browser of the terminal would be waited for.
    threading.Thread(target=webbrowser.open, args=(path.as_uri(),), daemon=True).start()
    try:
        yield
    finally:
        timer.cancel()
        path.unlink(missing_ok=True)


def _written(link: str) -> Path:
    folder = whence_home() / "web"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / f"open-{secrets.token_hex(8)}.html"
    leads = el("meta", http_equiv="refresh", content=f"0;url={link}")
    page = el("html", el("head", el("meta", charset="utf-8"), leads), el("body", "Opening …"))
    write_private(path, f"<!DOCTYPE html>\n{page}\n")
    return path
