"""The parts of a run's record: which there are, what each leads to, what each writes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from whence.engine.associations import LOG_PREFIX, Association
from whence.engine.compact import Associations, Block
from whence.engine.errors import StoreError
from whence.engine.intervals import positions
from whence.engine.record import LogRecord, RunRecord
from whence.engine.record.compact import from_compact_table
from whence.engine.record.schema import associations_of
from whence.engine.record.secret import record_secret
from whence.engine.runners.selected import Selector, is_selected, selector
from whence.store.loading.ancestry import Ancestry, Brought, reached, rows_of
from whence.store.loading.chunks import chunk_id
from whence.store.loading.content import (
    ChunkContent,
    Directory,
    add_choices,
    log_content,
    stream_content,
)
from whence.store.loading.ranges import Ranges
from whence.store.loading.selecting import MergedInputs, content_of
from whence.store.places import LAST_POSITION, last_position

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
        manifest: Mapping[str, Any],
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
        self.streams = {stream["name"]: stream for stream in manifest["streams"]}
        self.directory = Directory(
            numbers,
            {name: stream["role"] for name, stream in self.streams.items()},
            record_secret(record.root),
        )
        self.selected = is_selected(manifest) if selected is None else selected
        self._merging = MergedInputs(record, self.logs, numbers)
        self._merged = {
            name
            for name in (LOG_PREFIX + log for log in self.logs)
            if name in partly or (self.selected and self._own_log(name))
        }
        self._choices = {
            name: sorted((part["first"], part["part"]) for part in stream["outputs"])
            for name, stream in self.streams.items()
            if stream["role"] == "choices"
        }
        self._listed = {
            (name, what): {part["part"] for part in stream[what]}
            for name, stream in self.streams.items()
            for what in ("outputs", "associations")
        }

    def _own_log(self, name: str) -> bool:
        """Whether no other run made a log."""
        return self.logs[name.removeprefix(LOG_PREFIX)].made_by is None

    def ancestry(self) -> Ancestry:
        """What follows the ways up from selected outputs."""
        chunk = int(self.manifest["chunk"])
        return Ancestry(self.record, self.streams, chunk, self._selector)

    @cached_property
    def _selector(self) -> Selector:
        return selector(self.manifest)

    def _selected_parts(self) -> Iterator[Part]:
        """The parts of output pipes that have selected outputs, and the ends of the pipes."""
        width = self.manifest["chunk"]
        for name, stream in self.streams.items():
            if stream["role"] == "output":
                # A selected output may lean on nothing; a record that was imported counts once.
                leads = self._listed[name, "associations"]
                told = [p for p in stream["outputs"] if p.get("tracked", 1) or p["part"] in leads]
            else:
                told = stream["associations"] if stream["role"] == "end" else []
            yield from (Part(name, part["part"], part["part"] * width) for part in told)

    def __iter__(self) -> Iterator[Part]:
        """Every part, those first that come first in their log, whatever comes of them next."""
        if self.selected:
            yield from sorted(self._selected_parts(), key=lambda part: part.first)
            return
        found: list[Part] = []
        for name, log in self.logs.items():
            if log.made_by is not None:
                continue  # loaded with the run that made it
            width = log.manifest["chunk"]
            found += [Part(LOG_PREFIX + name, n, n * width) for n in range(log.manifest["parts"])]
        for name in self.streams:
            if name in self._choices:
                continue  # loaded with the parts of the stream that meets them
            listed = self._listed[name, "outputs"] | self._listed[name, "associations"]
            width = self.manifest["chunk"]
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
        some = is_selected(self.manifest) and self.streams[part.owner]["role"] == "output"
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
            rows = list(found.rows()) if isinstance(found, Associations) else found
            add_choices(content, self.streams[met], self.directory, choices, rows)
        return content

    def _require_room(self, part: Part) -> None:
        """Refuse a part whose events have no keys any more, before anything of it is written."""
        end, no = (part.number + 1) * self._width(part.owner), self.directory.numbers[part.owner]
        if end - 1 > last_position(no):
            w = self.streams[part.owner]["w"]
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
        over = self.manifest["status"] in ENDED
        whole = found.lacking is None and self._merging.there(found.inputs)
        return found if whole or over else None

    def selected_content(self, brought: Brought) -> ChunkContent:
        """What a part of a selected pipe writes."""
        wanted = {name: found for name, found in brought.inputs.items() if name in self._merged}
        merged = self._merging.rows(wanted)
        return content_of(brought, self.streams, self.directory, merged)

    def _merged_of(self, part: Part) -> dict[str, Ranges]:
        """The events of partly loaded logs that a part leads to."""
        wanted: dict[str, Ranges] = {}
        for name in (part.owner, f"{part.owner}/choices"):
            if (name, "associations") in self._listed:
                for to, found in reached(self._associations(name, part.number)):
                    if to in self._merged:
                        wanted[to] = wanted.get(to, Ranges.none()).union(found)
        return wanted

    def _associations(self, stream: str, number: int) -> list[Association] | Associations:
        if number not in self._listed[stream, "associations"]:
            return []
        return rows_of(self.record, stream, number)

    def _outputs(self, stream: str, number: int) -> Any:
        listed = number in self._listed[stream, "outputs"]
        return self.record.outputs(stream, number) if listed else None

    def _leads_to(self, part: Part) -> Iterator[str]:
        for name in (part.owner, f"{part.owner}/choices"):
            if (name, "associations") not in self._listed:
                continue
            if part.number not in self._listed[name, "associations"]:
                continue
            table = self.record.associations(name, part.number)
            if "back" in table.schema.names:
                for block in from_compact_table(table, name).blocks:
                    yield from self._chunks(block.to, _numbers(block, self._width(block.to)))
            else:
                yield from self._of_rows(associations_of(table, name))

    def _of_rows(self, rows: Iterable[Association]) -> Iterator[str]:
        for row in rows:
            if row.to in self._choices:
                owner = row.to.removesuffix("/choices")
                last = row.lo if row.hi is None else row.hi
                for position in positions(row.reaches(row.lo, last)):
                    at = bisect_right(self._choices[row.to], (position, LAST_POSITION)) - 1
                    yield self._chunk(owner, self._choices[row.to][at][1])
                continue
            width = self._width(row.to)
            if row.kind != "band":
                numbers = {position // width for position in row.inputs}
            else:
                lo, hi = row.lo, row.lo if row.hi is None else row.hi
                low = min(lo * row.sa + row.a, hi * row.sa + row.a)
                high = max(lo * row.sb + row.b, hi * row.sb + row.b)
                numbers = set(range(low // width, high // width + 1)) if low <= high else set()
            yield from self._chunks(row.to, numbers)

    def _width(self, to: str) -> int:
        """How many positions of a log or stream are in one of its parts."""
        if to.startswith(LOG_PREFIX):
            log = self.logs.get(to.removeprefix(LOG_PREFIX))
            return int(log.manifest["chunk"]) if log else 1
        return int(self.manifest["chunk"] * self.streams.get(to, {"w": 1})["w"])

    def _chunks(self, to: str, numbers: Iterable[int]) -> Iterator[str]:
        log = self.logs.get(to.removeprefix(LOG_PREFIX)) if to.startswith(LOG_PREFIX) else None
        if log is not None and log.made_by is not None:
            return  # was loaded before, with the run that made it
        if self.directory.roles.get(to) not in ("heads", "end"):  # no events of their own
            for number in numbers:
                yield self._chunk(to, number)


def logs_of(record: RunRecord, manifest: Mapping[str, Any]) -> dict[str, LogRecord]:
    """The logs of a run as they are now, by their names in the chain."""
    places = {name: record.root / "logs" / log for name, log in manifest["logs"].items()}
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
