"""Parts that tasks write: in a folder of each attempt's own, until the run takes them in.

Spark may start a task again, or twice at the same time, and goes by one attempt only. What that
attempt tells is what is taken in; whatever others have written is removed with the folder.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from whence.engine.record.files import remove_tree
from whence.engine.record.manifest import StreamInfo
from whence.engine.record.run_writer import RunWriter

__all__ = ["StagedParts", "remove_staged", "take_in"]

STAGED = ".tasks"
"""The folder of all attempts, in the run's folder; gone when the run has ended."""


class StagedParts(RunWriter):
    """Writes parts as the run's own writer does, where nobody sees them."""

    def __init__(self, folder: Path) -> None:
        """Begin an attempt.

        Args:
            folder: the run's.
        """
        self.id = folder.name
        self.folder = folder / STAGED / secrets.token_hex(8)
        self._streams = {}
        self._counts_tracked = False
        self._before = set()
        self._there = set()
        self._unflushed = []

    def told(self) -> dict[str, Any]:
        """What was written, for whoever takes it in."""
        self.flush()
        streams = [stream.info().json() for stream in self._streams.values()]
        return {"attempt": self.folder.name, "streams": streams}


def take_in(writer: RunWriter, told: Iterable[Mapping[str, Any]]) -> None:
    """Give the parts of some attempts their place in the run.

    Args:
        writer: the run's.
        told: what each attempt told.
    """
    for attempt in told:
        folder = writer.folder / STAGED / attempt["attempt"]
        for stream in attempt["streams"]:
            writer.take_in(StreamInfo.read(stream), folder)
    remove_staged(writer.folder)


def remove_staged(folder: Path) -> None:
    """Leave nothing of any attempt."""
    remove_tree(folder / STAGED)
