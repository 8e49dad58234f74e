"""The graph store: Neo4j, local or the user's own."""

from whence.store.associating import associate
from whence.store.connection import Connection, connect
from whence.store.secret import Secret
from whence.store.settings import Settings, resolve_settings

__all__ = ["Connection", "Secret", "Settings", "associate", "connect", "resolve_settings"]
