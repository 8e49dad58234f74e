"""A small proxy before a server, whose connections can be cut, and which can be away or slow."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["Proxy", "proxied"]

COMMIT = b"\x00\x02\xb0\x12\x00\x00"
"""How a client asks for a commit in Bolt: a message of two bytes, and its end."""
LONGEST = 60.0
"""Seconds for which something is held back at most: then it is passed on, whatever was asked."""


class Proxy:
    """Passes on what it is sent, until it is told to cut.

    Attributes:
        port: where it listens, on loopback.
        passed: bytes that it passed to the server so far.
    """

    def __init__(self, to: int) -> None:
        """Listen; every connection leads to the server at the port ``to``."""
        self._to = to
        self._lock = threading.Lock()
        self._open: list[socket.socket] = []
        self._away = False
        self._cut_after: int | None = None
        self._commits: int | None = None
        self._hears = True
        self._deaf = False
        self._turn = threading.Condition()
        self._most: int | None = None
        self._held = 0
        self.passed = 0
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                if self._away:
                    client.close()
                    continue
                server = socket.create_connection(("127.0.0.1", self._to))
                with self._lock:
                    self._open += [client, server]
                for source, target in ((client, server), (server, client)):
                    pair = (source, target, source is client)
                    threading.Thread(target=self._pass, args=pair, daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, upward: bool) -> None:
        with contextlib.suppress(OSError):
            while some := source.recv(65_536):
                if upward:
                    self._wait_to_pass(some)
                    if self._cut_after is not None and self.passed >= self._cut_after:
                        self._cut_after = None
                        self.cut()
                        return
                    if self._at_commit(some):
                        self.cut()
                        return
                elif self._deaf:
                    self._deaf = False
                    self.cut()
                    return
                target.sendall(some)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def _wait_to_pass(self, some: bytes) -> None:
        """Hold something back until it may go to the server, and count it."""
        with self._turn:
            self._held += 1
            self._turn.wait_for(lambda: not self._full, LONGEST)
            self._held -= 1
            self.passed += len(some)

    @property
    def _full(self) -> bool:
        return self._most is not None and self.passed >= self._most

    def hold_after(self, more: int) -> None:
        """Be slow: let so many more bytes go to the server, about, and hold back all others."""
        with self._turn:
            self._most = self.passed + more
            self._turn.notify_all()

    def let_go(self) -> None:
        """Hold nothing back any more."""
        with self._turn:
            self._most = None
            self._turn.notify_all()

    @property
    def holding(self) -> bool:
        """Whether something is there that is held back."""
        with self._turn:
            return self._full and self._held > 0

    def _at_commit(self, some: bytes) -> bool:
        """Whether this is the commit that the server is not to hear of."""
        if self._commits is None or COMMIT not in some:
            return False
        self._commits -= 1
        if self._commits:
            return False
        self._commits = None
        self._deaf = self._hears
        return not self._hears

    def lose_commit(self, nth: int, *, heard: bool) -> None:
        """Cut at the n-th commit from now on.

        Args:
            nth: which one.
            heard: the server hears of it, and only its answer is lost; else it hears nothing.
        """
        self._hears = heard
        self._commits = nth

    def cut(self) -> None:
        """Cut every connection, in the middle of whatever is being said."""
        with self._lock:
            for each in self._open:
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
                each.close()
            self._open.clear()

    def cut_after(self, more: int) -> None:
        """Cut every connection once so many more bytes have gone to the server."""
        self._cut_after = self.passed + more

    @property
    def cutting(self) -> bool:
        """Whether the cut that was asked for is still to come."""
        return self._cut_after is not None or self._commits is not None or self._deaf

    def leave(self) -> None:
        """Be away: cut, and let nobody in."""
        self._away = True
        self.cut()

    def come_back(self) -> None:
        """Let everybody in again."""
        self._away = False

    def close(self) -> None:
        """Listen no more."""
        self._listening.close()
        self.let_go()
        self.cut()


@contextmanager
def proxied(to: int) -> Iterator[Proxy]:
    """A proxy to a port, closed in the end."""
    proxy = Proxy(to)
    try:
        yield proxy
    finally:
        proxy.close()
