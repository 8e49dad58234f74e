"""What can be chosen for a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from whence.engine.errors import ParameterError
from whence.engine.interpreter.extract import Detail
from whence.engine.tracker import Witnesses

__all__ = ["CHUNK", "LOADED_CHUNK", "RunOptions", "chunk_for"]

CHUNK = 262_144
"""Positions a part of a run on batches: as many as events in a batch, so that most are a part.

Every part is a few files, each of which takes a millisecond or two however short it is: with 65,536
positions a tracked window took much longer (``bench batch_size`` compares sizes).
"""

LOADED_CHUNK = 4_096
"""Positions a part of a run that is loaded while it goes on.

A part is loaded when it is full: of 10,000 events a second, twice a second. It is about a
transaction's worth: with 16,384 a tenth fewer events a second were loaded, or more.
"""


def chunk_for(*, loaded: bool) -> int:
    """Positions a part, by whether the graph is loaded while the run goes on.

    >>> chunk_for(loaded=False), chunk_for(loaded=True)
    (262144, 4096)
    """
    return LOADED_CHUNK if loaded else CHUNK


@dataclass(frozen=True)
class RunOptions:
    """How a run is done and what it keeps.

    Attributes:
        tracked: keep what explains each output.
        detail: ``ends`` keeps output to input, ``steps`` every processor's events.
        witnesses: ``first``, or ``all`` alternatives.
        where: formula text over an output's ``value``; only outputs that it is true of are tracked.
        closed: close the logs after the last event.
        chunk: events a part of the record.
        metadata: whatever belongs to the run: owner, purpose, legal basis, retention.
    """

    tracked: bool = True
    detail: Detail = "ends"
    witnesses: Witnesses = "first"
    where: str | None = None
    closed: bool = False
    chunk: int = 5000
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what cannot be chosen."""
        choices = {"detail": ("ends", "steps"), "witnesses": ("first", "all")}
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                listed = " or ".join(allowed)
                msg = f"{name}: expected {listed}; got {getattr(self, name)!r}; try {allowed[0]}"
                raise ParameterError(msg)
        if self.chunk < 1:
            msg = f"chunk: expected at least 1 event a part; got {self.chunk}; try 5000"
            raise ParameterError(msg)

    def as_json(self) -> dict[str, Any]:
        """As the manifest keeps them."""
        return {
            "tracked": self.tracked,
            "detail": self.detail,
            "witnesses": self.witnesses,
            "where": self.where,
            "closed": self.closed,
        }
