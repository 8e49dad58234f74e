"""Requests to a page as a program sends them, header by header."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

from tools.browser import Served
from whence.store import Secret, Settings
from whence.web import Asker

__all__ = ["Answer", "ask", "asker", "journal", "raw", "take"]

NOWHERE = Settings("bolt://127.0.0.1:1", "nobody", Secret.of("no password"))


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: Mapping[str, str]
    text: str


def asker(root: Path) -> Asker:
    """Asks a graph that is not there."""
    return Asker(lambda: NOWHERE, root)


def ask(
    page: str, path: str, method: str = "GET", body: bytes | str = "", **headers: str
) -> Answer:
    """Send one request."""
    connection = http.client.HTTPConnection(urlsplit(page).netloc, timeout=60)
    try:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, named)
        answer = connection.getresponse()
        found = {name.casefold(): value for name, value in answer.getheaders()}
        return Answer(answer.status, found, answer.read().decode(errors="replace"))
    finally:
        connection.close()


def take(page: Served, path: str) -> Answer:
    """Take a file away, as the page's own button does."""
    body = urlencode({"token": page.form()})
    return ask(page, path, "POST", body, Cookie=page.cookie, Sec_Fetch_Site="same-origin")


def raw(page: str, data: bytes, most: int = 1 << 16) -> bytes:
    """Send bytes as they are; what comes back until the server closes, or is silent for long."""
    with socket.create_connection(("127.0.0.1", urlsplit(page).port or 0), timeout=30) as peer:
        peer.sendall(data)
        found = b""
        while len(found) < most:
            piece = peer.recv(65_536)
            if not piece:
                break
            found += piece
            if b"\r\n\r\n" in found:
                break
        return found


def journal(root: Path) -> list[list[str]]:
    """The words of each entry of a record's journal."""
    path = root / "journal.jsonl"
    if not path.exists():
        return []
    return [json.loads(line)["words"] for line in path.read_text("utf-8").splitlines()]
