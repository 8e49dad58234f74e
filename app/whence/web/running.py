"""Listen, and serve the page until it is stopped."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress

import uvicorn

from whence.engine.errors import ParameterError
from whence.web.access import Access
from whence.web.asking import Asker
from whence.web.heads import BoundedHeads
from whence.web.serving import create_app
from whence.web.tokens import Token

__all__ = ["address_of", "listen", "serve"]

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
        listening.listen()  # early connections wait until the server is up
    except OSError as error:
        what = error.strerror or str(error)
        msg = (
            f"the page: expected to listen at {host}, port {port}; got: {what}; "
            "try --port with another, or --port 0"
        )
        raise ParameterError(msg) from error
    return listening


def address_of(host: str, port: int) -> str:
    """Where a page is that listens there, as this machine sees it.

    >>> address_of("0.0.0.0", 8017), address_of("::1", 80)
    ('http://127.0.0.1:8017', 'http://[::1]:80')
    """
    host = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(host, host)
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}"


def serve(
    asker: Asker,
    listening: socket.socket,
    token: Token | Access,
    *,
    ready: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve the page until the process receives a signal to stop.

    Args:
        asker: the graph and the record.
        listening: from `listen`.
        token: what opens the page, or who may see it.
        ready: gets the page's address.
    """
    access = Access(token) if isinstance(token, Token) else token
    config = uvicorn.Config(
        create_app(asker, access),
        log_level="warning",
        access_log=False,  # addresses hold what people look for
        server_header=False,
        proxy_headers=False,  # --public says what a proxy would
        lifespan="on",
        http=BoundedHeads,
        ws="none",
        timeout_graceful_shutdown=PATIENCE,
        timeout_keep_alive=30,
    )
    ready(access.public or address_of(*listening.getsockname()[:2]))
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listening])
