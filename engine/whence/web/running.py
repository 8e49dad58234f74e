"""Listen, and serve the page until it is stopped."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress

import uvicorn

from whence.engine.errors import ParameterError
from whence.web.asking import Asker
from whence.web.guarding import Token, is_loopback
from whence.web.serving import create_app

__all__ = ["listen", "serve"]

PATIENCE = 5
"""Seconds for requests that are under way when it is stopped."""


def listen(host: str, port: int) -> socket.socket:
    """Take an address and a port; 0 takes any that is free.

    Raises:
        ParameterError: it cannot be had.
    """
    try:
        kind, _, _, _, place = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(kind, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(place)
        listening.listen()  # whoever comes before the server is up waits for it
    except OSError as error:
        what = error.strerror or str(error)
        msg = (
            f"the page: expected to listen at {host}, port {port}; got: {what}; "
            "try --port with another, or --port 0"
        )
        raise ParameterError(msg) from error
    return listening


def serve(
    asker: Asker,
    listening: socket.socket,
    token: Token | None = None,
    *,
    ready: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve the page until the process is asked to stop.

    Args:
        asker: the graph and the record.
        listening: from `listen`.
        token: what opens the page; without one only this machine may be able to reach it.
        ready: told the page's address.

    Raises:
        ParameterError: it could be reached from elsewhere, and there is no token.
    """
    host, port = listening.getsockname()[:2]
    if token is None and not is_loopback(host):
        msg = f"the page at {host}: expected a token; got none; try --token-file, or 127.0.0.1"
        raise ParameterError(msg)
    config = uvicorn.Config(
        create_app(asker, token),
        log_level="warning",
        access_log=False,  # addresses hold what people look for
        server_header=False,
        lifespan="on",
        ws="none",
        timeout_graceful_shutdown=PATIENCE,
        timeout_keep_alive=30,
    )
    name = f"[{host}]" if ":" in host else host
    ready(f"http://{name}:{port}/")
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listening])
