"""A file that is read as PROV."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from whence.engine.sources.limits import Limits
from whence.engine.sources.ocel.json_stream import JsonStream
from whence.engine.sources.opening import LogBytes

__all__ = ["Source"]


@dataclass(frozen=True)
class Source:
    """What a reader is given.

    Attributes:
        bytes: opens the file, each time from its beginning.
        where: the file's name, for messages.
        limits: how much of it is read.
        format: the name of its format.
    """

    bytes: Callable[[], LogBytes]
    where: str
    limits: Limits
    format: str

    def json(self) -> JsonStream:
        """Open it as JSON, from its beginning."""
        return JsonStream(self.bytes(), self.where, self.limits)
