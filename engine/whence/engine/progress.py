"""How far something long has come: one kind of event, whoever tells it and whoever listens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

__all__ = ["Listener", "Progress", "Stage", "tells"]

Stage = Literal["reading", "starting", "running", "loading", "exporting"]


@dataclass(frozen=True)
class Progress:
    """How far something has come.

    Attributes:
        stage: what is going on: ``reading`` a log, ``starting`` Spark, ``running`` the chain,
            ``loading`` the graph, ``exporting``.
        done: how much is done.
        total: how much there is; 0 where that is not known.
        unit: of what: ``bytes``, ``events``, ``parts``, ``tasks``, ``rows``.
        text: what is being done, for a person.
    """

    stage: Stage
    done: int
    total: int
    unit: str
    text: str

    @property
    def share(self) -> float | None:
        """How much of it is done, from 0 to 1; ``None`` where that is not known."""
        return self.done / self.total if self.total else None

    def __str__(self) -> str:
        """One line for a person.

        >>> str(Progress("running", 500, 2000, "events", "running, 90 events/s"))
        'running, 90 events/s: 25 %'
        """
        return f"{self.text}: {100 * self.done // self.total} %" if self.total else self.text


Listener = Callable[[Progress], None]
"""Whoever wants to know; it is called from the thread that does the work, and shall be quick."""


def tells(listener: Listener | None, stage: Stage, unit: str) -> Callable[[int, int, str], None]:
    """What the parts of the engine and the store call: how much, of how much, and what is done."""
    if listener is None:
        return lambda done, total, text: None
    return lambda done, total, text: listener(Progress(stage, done, total, unit, text))
