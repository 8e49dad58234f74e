"""Ports on loopback."""

from __future__ import annotations

import socket

__all__ = ["BOLT_PORT", "choose_port", "is_free"]

BOLT_PORT = 7687


def is_free(port: int) -> bool:
    """Say whether a server could listen on this port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def choose_port(preferred: int | None = BOLT_PORT) -> int:
    """Take the preferred port if it is free, else one that the system gives."""
    if preferred is not None and is_free(preferred):
        return preferred
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
