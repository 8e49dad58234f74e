"""A Maven repository of two small jars on loopback, which can be made slow, wrong or empty."""

from __future__ import annotations

import hashlib
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from whence.store.server.jars import Jar, PinnedJars

__all__ = ["PINNED", "Mirror", "mirror"]

_RANDOM = random.Random(5)
FILES = {"alpha-1.0.jar": _RANDOM.randbytes(40_000), "beta-2.0.jar": _RANDOM.randbytes(400_000)}
PINNED = PinnedJars(
    "tiny-1.0",
    tuple(
        Jar("org.example", artifact, version, "", len(content), hashlib.sha256(content).hexdigest())
        for (artifact, version), content in zip(
            [("alpha", "1.0"), ("beta", "2.0")], FILES.values(), strict=True
        )
    ),
)


class Mirror:
    """What the repository gives, and what was asked of it."""

    def __init__(self) -> None:
        """Begin in good health."""
        self.files = dict(FILES)
        self.fetched: list[str] = []
        self.stalled = threading.Event()
        self.stall_on: str | None = None
        self.go_on = threading.Event()
        self.address = ""


@contextmanager
def mirror() -> Iterator[Mirror]:
    """Serve until the block ends."""
    state = Mirror()

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._answer(body=False)

        def do_GET(self) -> None:
            self._answer(body=True)

        def _answer(self, *, body: bool) -> None:
            name = self.path.rpartition("/")[2]
            content = state.files.get(name)
            if content is None:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if not body:
                return
            if state.stall_on == name:
                self.wfile.write(content[: len(content) // 2])
                self.wfile.flush()
                state.stalled.set()
                state.go_on.wait(60)
                return  # the connection breaks in the middle of the jar
            state.fetched.append(name)
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.address = f"http://127.0.0.1:{server.server_address[1]}/"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        state.go_on.set()
        server.shutdown()
        server.server_close()
        thread.join(10)
