"""A real Neo4j on this machine: fetched once, verified, started and stopped by name."""

from whence.store.server.lifecycle import (
    Status,
    instances,
    last_lines,
    remove,
    start,
    status,
    stop,
)
from whence.store.server.memory import Memory

__all__ = ["Memory", "Status", "instances", "last_lines", "remove", "start", "status", "stop"]
