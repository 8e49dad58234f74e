"""Which of this user's local servers answers at an address, and where its files are."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from whence.store.server.instance import Instance
from whence.store.server.lifecycle import instances
from whence.store.server.process import find_running
from whence.store.settings import Settings

__all__ = ["local_store", "serving"]

LOOPBACK = ("127.0.0.1", "localhost", "::1")
DATABASE = "neo4j"
"""The one database that the Community server has for users."""


def serving(settings: Settings) -> Instance | None:
    """The local server that these settings lead to; ``None`` if it is somebody else's."""
    address = urlsplit(settings.uri)
    if address.hostname not in LOOPBACK:
        return None
    for name in instances():
        instance = Instance(name)
        running = find_running(instance)
        if running is not None and running.port == (address.port or 7687):
            return instance
    return None


def local_store(settings: Settings) -> tuple[Path, Path] | None:
    """The folders of the store and of its transaction logs, if they are on this machine."""
    instance = serving(settings)
    if instance is None:
        return None
    data = instance.home / "data"
    return data / "databases" / DATABASE, data / "transactions" / DATABASE
