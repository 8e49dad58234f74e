"""How far something long has come: the one event, its listener, and what reports events to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

__all__ = ["Listener", "Progress", "Reporter", "Stage"]

Stage = Literal[
    "reading",
    "starting",
    "running",
    "loading",
    "exporting",
    "writing",
    "fetching",
    "checking",
    "removing",
    "rebuilding",
    "erasing",
]


@dataclass(frozen=True)
class Progress:
    """How far something has come.

    Attributes:
        stage: what is going on: ``reading`` a log, ``starting`` Spark, ``running`` the chain,
            ``loading`` the graph, ``exporting``, ``writing`` a log, ``fetching`` Neo4j,
            ``checking`` the graph, ``removing`` or ``erasing`` what is in it, ``rebuilding`` it.
        done: how much is done.
        total: how much there is; 0 where that is not known.
        unit: of what: ``bytes``, ``files``, ``events``, ``parts``, ``tasks``, ``rows``, ….
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
"""Called from the thread that does the work; it must be quick."""


@dataclass(frozen=True)
class Reporter:
    """Reports one stage of the work, counted in one unit, to a listener if there is one."""

    listener: Listener | None
    stage: Stage
    unit: str

    def __call__(self, done: int, total: int, text: str) -> None:
        """Report how much is done, how much there is, and what is being done."""
        if self.listener is not None:
            self.listener(Progress(self.stage, done, total, self.unit, text))
