"""The manifest of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal

from whence.engine.record.manifest.stated import Stated
from whence.engine.record.manifest.streams import StreamInfo

__all__ = ["PlanInfo", "RunChoices", "RunManifest"]


@dataclass(frozen=True, kw_only=True)
class RunChoices(Stated):
    """How a run was done and what it keeps: `RunOptions`, as the manifest states them.

    Attributes:
        tracked: whether associations were written.
        detail: ``ends`` or ``steps``.
        witnesses: ``first`` or ``all``.
        where: a formula; only outputs that it is true of were tracked.
        closed: whether the logs were closed after the last event.
        limits: the limits that differ from the defaults.
    """

    tracked: bool = True
    detail: Literal["ends", "steps"] = "ends"
    witnesses: Literal["first", "all"] = "first"
    where: str | None = None
    closed: bool = False
    limits: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_selective(self) -> bool:
        """Whether only some outputs were tracked."""
        return self.tracked and self.where is not None


@dataclass(frozen=True, kw_only=True)
class PlanInfo(Stated):
    """How Spark cut a run.

    Attributes:
        kind: ``slices`` or ``chunks``.
        tasks: into how many tasks.
        why: what decided it, for a person.
    """

    kind: str
    tasks: int
    why: str


@dataclass(frozen=True, kw_only=True)
class RunManifest(Stated):
    """What is known of a run.

    Attributes:
        format: of the manifest.
        id: the run's id.
        status: ``running``, ``complete`` or ``failed``; ``interrupted`` if it should be running and
            no process writes it.
        started: when it began.
        ended: when it ended.
        error: why it failed.
        pending: the verdicts that wait, by processor.
        chain: the chain's tree.
        chain_digest: its digest.
        logs: the ids of the logs, by their names in the chain.
        runner: the way of running.
        options: what was chosen.
        versions: of what ran.
        metadata: whatever belongs to the run.
        chunk: positions a part.
        batch: events a batch, of a run on batches.
        plan: how Spark cut it into several tasks.
        stream: of a stream that is followed: where it comes from, and a digest of the request.
        known: of such a stream: what was learned before its first event.
        streams: the streams with their parts.
        erasures: the ids of the erasures that concern it.
        imported: whether it came in a file, which says of itself when it began.
    """

    FORMAT: ClassVar[int] = 1

    format: int = FORMAT
    id: str
    status: str
    started: str
    ended: str | None = None
    error: str | None = None
    pending: Mapping[str, Any] = field(default_factory=dict)
    chain: Any = None
    chain_digest: str | None = None
    logs: Mapping[str, str]
    runner: str = ""
    options: RunChoices = field(default_factory=RunChoices)
    versions: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    chunk: int
    batch: int | None = None
    plan: PlanInfo | None = None
    stream: Mapping[str, str] | None = None
    known: Mapping[str, Any] | None = None
    streams: tuple[StreamInfo, ...]
    erasures: tuple[str, ...] = ()
    imported: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether it came to its end."""
        return self.status == "complete"

    @property
    def is_running(self) -> bool:
        """Whether a process writes it."""
        return self.status == "running"

    @property
    def is_interrupted(self) -> bool:
        """Whether it should be running, and no process writes it."""
        return self.status == "interrupted"

    @cached_property
    def by_name(self) -> Mapping[str, StreamInfo]:
        """The streams by their names."""
        return {stream.name: stream for stream in self.streams}

    @cached_property
    def outputs(self) -> tuple[StreamInfo, ...]:
        """The streams of the pipes that leave the chain."""
        return tuple(stream for stream in self.streams if stream.role.is_output)

    def describes(self, described: Mapping[str, Any]) -> bool:
        """Whether it states all this."""
        told = self.json()
        return all(told.get(name) == value for name, value in described.items())
