"""The parts of a run's record: which there are, what each leads to, what each writes."""

from __future__ import annotations

from bisect import insort
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from whence.engine.errors import StoreError
from whence.engine.lineage.association import LOG_PREFIX
from whence.engine.lineage.block import Associations, Block
from whence.engine.lineage.positions import NONE, Positions
from whence.engine.record import LogRecord, RunRecord
from whence.engine.record.folders import log_folder
from whence.engine.record.manifest import LISTS, PartInfo, RunManifest, StreamInfo
from whence.engine.record.secret import record_secret
from whence.engine.record.selected import Selector, selector
from whence.store.loading.ancestry import Ancestry, Brought, reached
from whence.store.loading.chunks import chunk_id
from whence.store.loading.content import (
    ChunkContent,
    Directory,
    add_choices,
    log_content,
    stream_content,
)
from whence.store.loading.selecting import MergedInputs, content_of
from whence.store.places import last_position

__all__ = ["ENDED", "Part", "RecordParts", "logs_of", "parts_listed"]

ENDED = ("complete", "failed")
"""How a run stands that has ended by itself: its record will not change any more."""


@dataclass(frozen=True)
class Part:
    """One part of a log or stream.

    Attributes:
        owner: ``log:NAME``, or the stream's name.
        number: which part of it.
        first: the position of the log or of the outer stream at which it begins.
    """

    owner: str
    number: int
    first: int = 0


class RecordParts:
    """What a run's record holds by now, as the graph will have it.

    A running run only adds to its lists, so that `grow` looks at new entries alone.

    Attributes:
        record: the run's record.
        manifest: as it was read.
        logs: the run's logs by their names in the chain.
        streams: as the manifest lists them, by name.
        directory: where names lead to in the graph.
    """

    def __init__(
        self,
        record: RunRecord,
        manifest: RunManifest,
        numbers: Mapping[str, int],
        *,
        selected: bool | None = None,
        partly: Container[str] = (),
    ) -> None:
        """Take what there is now.

        Args:
            record: the run's record.
            manifest: its manifest.
            numbers: of each log (``log:NAME``) and stream in the graph.
            selected: load selected outputs and what they need; as the run was tracked, unless
                given.
            partly: the logs (``log:NAME``) made by a run of which only that much is loaded.
        """
        self.record = record
        self.manifest = manifest
        self.logs = logs_of(record, manifest)
        self.streams = {stream.name: stream for stream in manifest.streams}
        self.directory = Directory(
            numbers,
            {name: stream.role for name, stream in self.streams.items()},
            record_secret(record.root),
        )
        self.selected = manifest.options.is_selective if selected is None else selected
        self._merging = MergedInputs(record, self.logs, numbers)
        self._merged = {
            name
            for name in (LOG_PREFIX + log for log in self.logs)
            if name in partly or (self.selected and self._own_log(name))
        }
        self._choices: dict[str, list[tuple[int, int]]] = {
            name: [] for name, stream in self.streams.items() if stream.role.is_choices
        }
        self._listed: dict[tuple[str, str], set[int]] = {}
        self._last: dict[tuple[str, str], tuple[int, int]] = {}
        for stream in self.streams.values():
            self._take(stream)

    def grow(self, manifest: RunManifest) -> list[Part] | None:
        """Take in a later manifest of the same streams and return the parts that it adds.

        ``None`` if it does not begin with what is known, as after a run has begun anew: then all
        has to be listed again.
        """
        if not all(self._continues(stream) for stream in manifest.streams):
            return None
        before = {name: log.manifest.parts for name, log in self.logs.items()}
        self.manifest, self.logs = manifest, logs_of(self.record, manifest)
        self.streams = {stream.name: stream for stream in manifest.streams}
        self._merging = MergedInputs(self.record, self.logs, self.directory.numbers)
        found = [part for name in self.logs for part in self._log_parts(name, before[name])]
        for name, stream in self.streams.items():
            numbers = self._take(stream)
            if name not in self._choices:
                width = self.manifest.chunk
                found += [Part(name, number, number * width) for number in numbers]
        return sorted(found, key=lambda part: part.first)

    def _take(self, stream: StreamInfo) -> set[int]:
        """Note what a stream lists since it was last looked at; return the parts that are new."""
        name, found = stream.name, set[int]()
        for what in LISTS:
            known = self._listed.setdefault((name, what), set())
            taken, _ = self._last.get((name, what), (0, 0))
            more = stream.parts(what).since(taken)
            if not more:
                continue
            if what == "outputs" and name in self._choices:
                for part in more:
                    insort(self._choices[name], (part.first, part.part))
            others = [self._listed.get((name, other), known) for other in LISTS]
            numbers = set(more.numbers)
            found |= {number for number in numbers if not any(number in o for o in others)}
            known |= numbers
            self._last[name, what] = (len(stream.parts(what)), more[-1].part)
        return found

    def _continues(self, stream: StreamInfo) -> bool:
        """Whether a stream's lists begin with what is known of them."""
        for what in LISTS:
            taken, last = self._last.get((stream.name, what), (0, 0))
            listed = stream.parts(what)
            if len(listed) < taken or (taken and listed[taken - 1].part != last):
                return False
        return True

    def _log_parts(self, name: str, first: int = 0) -> list[Part]:
        """The parts of a log from one on; none if another run made it, which brings them along."""
        log = self.logs[name]
        if log.made_by is not None:
            return []
        width = log.manifest.chunk
        return [Part(LOG_PREFIX + name, n, n * width) for n in range(first, log.manifest.parts)]

    def _own_log(self, name: str) -> bool:
        """Whether no other run made a log."""
        return self.logs[name.removeprefix(LOG_PREFIX)].made_by is None

    def ancestry(self) -> Ancestry:
        """What follows the ways up from selected outputs."""
        chunk = self.manifest.chunk
        return Ancestry(self.record, self.streams, chunk, self._selector)

    @cached_property
    def _selector(self) -> Selector:
        return selector(self.manifest)

    def _selected_parts(self) -> Iterator[Part]:
        """The parts of output pipes that have selected outputs, and the ends of the pipes."""
        width = self.manifest.chunk
        for name, stream in self.streams.items():
            if stream.role.is_output:
                # A selected output may lean on nothing; a record that was imported counts once.
                leads = self._listed[name, "associations"]
                told: Iterable[PartInfo] = [
                    p for p in stream.outputs if p.tracked != 0 or p.part in leads
                ]
            else:
                told = stream.associations if stream.role.is_end else ()
            yield from (Part(name, part.part, part.part * width) for part in told)

    def __iter__(self) -> Iterator[Part]:
        """Every part, those first that come first in their log, whatever comes of them next."""
        if self.selected:
            yield from sorted(self._selected_parts(), key=lambda part: part.first)
            return
        found: list[Part] = []
        for name in self.logs:
            found += self._log_parts(name)
        for name in self.streams:
            if name in self._choices:
                continue  # loaded with the parts of the stream that meets them
            listed = self._listed[name, "outputs"] | self._listed[name, "associations"]
            width = self.manifest.chunk
            found += [Part(name, number, number * width) for number in listed]
        yield from sorted(found, key=lambda part: part.first)  # else in the order of streams

    def id(self, part: Part) -> str:
        """The id of the part's chunk."""
        return self._chunk(part.owner, part.number)

    def _chunk(self, owner: str, number: int) -> str:
        if owner.startswith(LOG_PREFIX):
            log = self.logs.get(owner.removeprefix(LOG_PREFIX))
            return chunk_id("log", owner if log is None else log.id, number)
        return chunk_id("run", self.record.id, number, owner)

    def needs(self, part: Part) -> set[str]:
        """The chunks that hold what a part leads to, without its own."""
        if part.owner.startswith(LOG_PREFIX):
            return set()
        return set(self._leads_to(part)) - {self.id(part)}

    def content(self, part: Part) -> ChunkContent:
        """What a part writes."""
        if part.owner.startswith(LOG_PREFIX):
            log = self.logs[part.owner.removeprefix(LOG_PREFIX)]
            no = self.directory.numbers[part.owner]
            return log_content(no, log.manifest, log.part(part.number), self.directory.secret)
        self._require_room(part)
        outputs = self._outputs(part.owner, part.number)
        some = self.manifest.options.is_selective and self.streams[part.owner].role.is_output
        told = (
            self._selector(part.owner, outputs).tolist() if some and outputs is not None else None
        )
        content = stream_content(
            self.streams[part.owner],
            self.directory,
            outputs,
            self._associations(part.owner, part.number),
            tracked=told,
        )
        if self._merged:
            content.merged = self._merging.rows(self._merged_of(part))
        met = f"{part.owner}/choices"
        choices = self._outputs(met, part.number) if met in self._choices else None
        if choices is not None:
            found = self._associations(met, part.number)
            add_choices(content, self.streams[met], self.directory, choices, list(found.rows()))
        return content

    def _require_room(self, part: Part) -> None:
        """Refuse a part whose events have no keys any more, before anything of it is written."""
        end, no = (part.number + 1) * self._width(part.owner), self.directory.numbers[part.owner]
        if end - 1 > last_position(no):
            w = self.streams[part.owner].w
            most, end = (last_position(no) + 1) // w, end // w
            msg = (
                f"{self.record.id}/{part.owner}: expected events up to position {most:,} of the "
                f"whole stream, for which the graph has room; got a part that goes to {end:,}; "
                "try several logs, or a run that is not loaded"
            )
            raise StoreError(msg)

    def brought(self, part: Part, ancestry: Ancestry) -> Brought | None:
        """What a part of a selected pipe brings; ``None`` if the record has not all of it yet."""
        found = ancestry.bring(part.owner, part.number)
        over = self.manifest.status in ENDED
        whole = found.lacking is None and self._merging.there(found.inputs)
        return found if whole or over else None

    def selected_content(self, brought: Brought) -> ChunkContent:
        """What a part of a selected pipe writes."""
        wanted = {name: found for name, found in brought.inputs.items() if name in self._merged}
        merged = self._merging.rows(wanted)
        return content_of(brought, self.streams, self.directory, merged)

    def _merged_of(self, part: Part) -> dict[str, Positions]:
        """The events of partly loaded logs that a part leads to."""
        wanted: dict[str, Positions] = {}
        for name in (part.owner, f"{part.owner}/choices"):
            if (name, "associations") in self._listed:
                for to, found in reached(self._associations(name, part.number)):
                    if to in self._merged:
                        wanted[to] = wanted.get(to, NONE).union(found)
        return wanted

    def _associations(self, stream: str, number: int) -> Associations:
        listed = number in self._listed[stream, "associations"]
        return self.record.blocks(stream, number) if listed else Associations(stream)

    def _outputs(self, stream: str, number: int) -> Any:
        listed = number in self._listed[stream, "outputs"]
        return self.record.outputs(stream, number) if listed else None

    def _leads_to(self, part: Part) -> Iterator[str]:
        for name in (part.owner, f"{part.owner}/choices"):
            if (name, "associations") not in self._listed:
                continue
            for block in self._associations(name, part.number).blocks:
                if block.to in self._choices:
                    yield from self._of_choices(block)
                else:
                    yield from self._chunks(block.to, _numbers(block, self._width(block.to)))

    def _of_choices(self, block: Block) -> Iterator[str]:
        """The chunks of the events that met some choices first."""
        owner, firsts = block.to.removesuffix("/choices"), self._choices[block.to]
        leads = block.leads()
        begins = np.array([first for first, _ in firsts], np.int64)
        choices = Positions.joined(leads.lo, leads.hi).positions
        at = np.unique(np.searchsorted(begins, choices, side="right") - 1)
        for each in at.tolist():
            yield self._chunk(owner, firsts[each][1])

    def _width(self, to: str) -> int:
        """How many positions of a log or stream are in one of its parts."""
        if to.startswith(LOG_PREFIX):
            log = self.logs.get(to.removeprefix(LOG_PREFIX))
            return log.manifest.chunk if log else 1
        stream = self.streams.get(to)
        return self.manifest.chunk * (1 if stream is None else stream.w)

    def _chunks(self, to: str, numbers: Iterable[int]) -> Iterator[str]:
        log = self.logs.get(to.removeprefix(LOG_PREFIX)) if to.startswith(LOG_PREFIX) else None
        if log is not None and log.made_by is not None:
            return  # was loaded before, with the run that made it
        if (
            to not in self.directory.roles or self.directory.roles[to].has_events
        ):  # no events of their own
            for number in numbers:
                yield self._chunk(to, number)


def logs_of(record: RunRecord, manifest: RunManifest) -> dict[str, LogRecord]:
    """The logs of a run as they are now, by their names in the chain."""
    places = {name: log_folder(record.root, log) for name, log in manifest.logs.items()}
    return {name: LogRecord.open(place) for name, place in places.items()}


def parts_listed(record: RunRecord, *, selected: bool) -> Iterator[str]:
    """The ids of the chunks that a run's record has parts for, those of its logs included."""
    parts = RecordParts(record, record.manifest, {}, selected=selected)
    yield from {parts.id(part): None for part in parts}


def _numbers(block: Block, width: int) -> set[int]:
    """The numbers of the parts that the items of a block lead to."""
    if not len(block):
        return set()
    more = np.maximum(block.more, 0)
    begin, end = block.inputs, block.inputs + block.width
    low = np.minimum(begin, begin + more * block.sa) // width
    high = np.maximum(end, end + more * block.sb) // width
    found = set(np.unique(low).tolist()) | set(np.unique(high[high >= low]).tolist())
    wide = high > low + 1
    for first, last in set(zip(low[wide].tolist(), high[wide].tolist(), strict=True)):
        found.update(range(first, last + 1))
    return found
