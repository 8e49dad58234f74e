"""All runs of a record as files for the offline importer: the graph that loading would make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from whence.engine.lineage.association import LOG_PREFIX
from whence.engine.progress import Reporter
from whence.engine.record import RunRecord
from whence.engine.record.manifest import RunManifest
from whence.store.care.import_files import ImportFiles
from whence.store.loading.ancestry import Ancestry
from whence.store.loading.chunks import marker_of
from whence.store.loading.content import DERIVED, INFLUENCED, ChunkContent, Row
from whence.store.loading.numbers import COUNTERS, is_wide, take_numbers
from whence.store.loading.parts import Part, RecordParts
from whence.store.loading.pieces import with_ids
from whence.store.loading.register import stream_id
from whence.store.loading.selected_heads import head_rows, heads_asked_for
from whence.store.migrations import VERSION
from whence.store.places import WIDE, key_of, no_of, position_of

__all__ = ["Numbers", "export_runs", "numbered"]

Numbers = dict[str, int]

LABELS = {"inputs": "Event:Input", "outputs": "Event:Output", "events": "Event"}
OPEN = -1


def numbered(runs: Sequence[RunRecord]) -> Numbers:
    """The numbers that loading these runs one after the other would give to logs and streams."""
    numbers: Numbers = {}
    given = dict.fromkeys(COUNTERS, 0)

    def take(counter: str, many: int) -> int:
        given[counter] += many
        return given[counter] - many + 1

    for run in runs:
        manifest = run.manifest
        logs = (run.log(name) for name in manifest.logs)
        ids = [log.id for log in logs if log.made_by is None]
        ids += [stream_id(run.id, stream.name) for stream in manifest.streams]
        wide = frozenset(stream_id(run.id, s.name) for s in manifest.streams if is_wide(s))
        missing = [id for id in dict.fromkeys(ids) if id not in numbers]
        numbers.update(take_numbers(missing, wide, take))
    return numbers


def export_runs(
    runs: Sequence[RunRecord], numbers: Numbers, folder: Path, report: Reporter
) -> ImportFiles:
    """Write everything that the runs hold, part by part.

    Args:
        runs: those first whose streams others read.
        numbers: of every log and stream.
        folder: where the files are made.
        report: told how many parts are done.
    """
    with ImportFiles(folder) as files:
        work = _Export(files, numbers, folder)
        every = [(run, run.manifest) for run in runs]
        parts = [(run, work.parts(run, manifest)) for run, manifest in every]
        work.know_whole(held for _, held in parts)
        listed = [(held, list(held)) for _, held in parts]
        total, done = sum(len(several) for _, several in listed), 0
        for held, several in listed:
            work.collections(held)
            for part in _heads_first(held, several):
                report(done, total, f"writing {held.record.id}")
                work.part(held, part)
                done += 1
            work.forget_heads()
        files.node("Schema", "Schema", 1, {"name": "graph", "version": VERSION})
        wide = sum(1 for no in numbers.values() if no >= WIDE)
        for at, last in enumerate((len(numbers) - wide, wide)):
            if last:
                files.node("Counter", "Counter", at + 1, {"name": COUNTERS[at], "last": last})
        report(total, total, "writing files")
    return files


def _heads_first(held: RecordParts, parts: Sequence[Part]) -> Iterator[Part]:
    """What says which inner events are heads comes before these events."""
    roles = held.directory.roles
    heads = {name for name, role in roles.items() if role.is_heads}
    yield from (part for part in parts if part.owner in heads)
    yield from (part for part in parts if part.owner not in heads)


@dataclass
class _Export:
    files: ImportFiles
    numbers: Numbers
    folder: Path

    def __post_init__(self) -> None:
        self.logs: set[str] = set()
        self.whole: set[int] = set()
        self.merged: set[int] = set()
        self.chunks: set[str] = set()
        self.spans = self.markers = 0
        self.heads = _Heads(self.folder, {})
        self.ancestry: Ancestry | None = None

    def know_whole(self, runs: Iterable[RecordParts]) -> None:
        """Learn which logs are written whole; of the others only what is needed."""
        for held in runs:
            for name, log in held.logs.items():
                if not held.selected and log.made_by is None:
                    self.whole.add(held.directory.numbers[LOG_PREFIX + name])

    def parts(self, run: RunRecord, manifest: RunManifest) -> RecordParts:
        numbers = {}
        partly = set()
        for name in manifest.logs:
            log = run.log(name)
            id = log.id if log.made_by is None else stream_id(*log.made_by)
            numbers[LOG_PREFIX + name] = self.numbers[id]
            if log.made_by is not None:
                maker = RunRecord(run.root, log.made_by[0])
                if maker.manifest.options.is_selective:
                    partly.add(LOG_PREFIX + name)
        for stream in manifest.streams:
            numbers[stream.name] = self.numbers[stream_id(run.id, stream.name)]
        return RecordParts(run, manifest, numbers, partly=partly)

    def collections(self, held: RecordParts) -> None:
        """Logs, streams and ends: who they are; the rest is said when the run is registered."""
        for log in held.logs.values():
            if log.made_by is None and log.id not in self.logs:
                self.logs.add(log.id)
                no = self.numbers[log.id]
                self.files.node("Collection:Log", "Collection", no, {"id": log.id, "no": no})
        widths: dict[int, int] = {}
        for name, stream in held.streams.items():
            id = stream_id(held.record.id, name)
            no = self.numbers[id]
            widths[no] = held.manifest.chunk * stream.w
            known = {"id": id, "no": no}
            if stream.role.is_end:
                self.files.node("End", "End", key_of(no, 0), known)
            else:
                self.files.node("Collection:Stream", "Collection", no, known)
        self.heads = _Heads(self.folder, widths)
        self.ancestry = None
        if held.selected:
            self._know_heads(held)
            self.ancestry = held.ancestry()

    def _know_heads(self, held: RecordParts) -> None:
        """The heads that selected outputs lean on have to be known before their events come."""
        ancestry = held.ancestry()
        for part in held:
            ancestry.know(ancestry.bring(part.owner, part.number))
        for name, heads in heads_asked_for(ancestry, held.directory):
            self.heads.add(head_rows(held.directory.numbers[name], heads))

    def forget_heads(self) -> None:
        """The next run has its own."""
        self.heads.remove()

    def part(self, held: RecordParts, part: Part) -> None:
        """Write what a part holds, and its marker."""
        id = held.id(part)
        if id in self.chunks:
            return  # of a log that another run read too
        if part.owner.startswith(LOG_PREFIX):
            self.chunks.add(id)
        content = self._content(held, part)
        for piece, some in with_ids(id, content):
            self._marked(piece, some)

    def _content(self, held: RecordParts, part: Part) -> ChunkContent:
        if self.ancestry is None:
            return held.content(part)
        brought = self.ancestry.bring(part.owner, part.number)
        self.ancestry.know(brought)
        return held.selected_content(brought)

    def _marked(self, id: str, content: ChunkContent) -> None:
        """Write a chunk and its marker."""
        self.heads.add(content.heads)
        for kind, rows in content.merged.items():
            fresh = [row for row in rows if self._is_fresh(row["key"])]
            self._events(LABELS[kind], fresh)
            self.merged.update(row["key"] for row in fresh)
        if content.selected:
            self.merged.update(content.keys)
        self._events("Event", content.inner)
        self._events(LABELS[content.label], content.events)
        self._events("Event:Choice", content.choices)
        self._edges(content)
        self.markers += 1
        marker = marker_of(id, content)
        owns = marker["owns"]
        self.files.pack(id, marker.pop("packed"), marker.pop("bounds"))
        self.files.node("Chunk", "Chunk", self.markers, {**marker, "owns": owns or None})
        led = (content.derived, content.influenced, content.end)
        bands = (content.derived_spans, content.influenced_spans)
        if any(row["with"].get("fields") == [] for rows in (*led, *bands) for row in rows):
            self.files.to_mend.extend(zip(owns[::2], owns[1::2], strict=True))
            keys = content.keys if content.selected else ()
            for no in {no_of(key) for key in keys}:
                own = [key for key in keys if no_of(key) == no]
                self.files.to_mend.append((min(own), max(own)))

    def _is_fresh(self, key: int) -> bool:
        """Whether nothing else writes an event that is merged."""
        return key not in self.merged and no_of(key) not in self.whole

    def _events(self, labels: str, events: Sequence[Row]) -> None:
        if not events:
            return
        heads = self.heads.among(events)
        for event in events:
            span = heads.get(event["key"])
            if span is None:
                self.files.node(labels, "Event", event["key"], event)
            else:
                self.files.node(f"{labels}:Span", "Event", event["key"], {**event, **span})

    def _edges(self, content: ChunkContent) -> None:
        literal = (
            (DERIVED, "Event", content.derived),
            (INFLUENCED, "Event", content.influenced),
            (INFLUENCED, "End", content.end),
        )
        for type, group, rows in literal:
            for row in rows:
                self.files.edges_from(type, group, [row["key"]], "Event", row["to"], row["with"])
        spans = (DERIVED, content.derived_spans), (INFLUENCED, content.influenced_spans)
        for type, rows in spans:
            for row in rows:
                self.spans += 1
                self.files.node("Span", "Span", self.spans, row["span"])
                ends = ("Span", self.spans), ("Collection", row["to"])
                self.files.edge(type, *ends, row["with"])


class _Heads:
    """From where to where inner events are heads, kept on disk by the part of the event."""

    def __init__(self, folder: Path, widths: Mapping[int, int]) -> None:
        self.folder = folder
        self.widths = widths
        self.there: dict[tuple[int, int], Path] = {}

    def _bucket(self, key: int) -> tuple[int, int]:
        no = no_of(key)
        return no, position_of(key) // self.widths.get(no, 1)

    def add(self, rows: Sequence[Row]) -> None:
        """Keep some; an event that is told of again has ended."""
        found: dict[tuple[int, int], list[int]] = {}
        for row in rows:
            span = row["span"]
            told = [row["key"], span["no"], span["lo"], span.get("hi", OPEN)]
            found.setdefault(self._bucket(row["key"]), []).extend(told)
        for bucket, numbers in found.items():
            path = self.there.setdefault(bucket, self.folder / f"heads-{bucket[0]}-{bucket[1]}")
            with path.open("ab") as file:
                file.write(np.asarray(numbers, np.int64).tobytes())

    def among(self, events: Sequence[Row]) -> dict[int, Row]:
        """The heads among some events, mostly of one part."""
        found: dict[int, Row] = {}
        for bucket in {self._bucket(event["key"]) for event in events} if self.there else ():
            path = self.there.get(bucket)
            if path is None:
                continue
            rows = np.frombuffer(path.read_bytes(), np.int64).reshape(-1, 4).tolist()
            for key, no, lo, hi in rows:
                if hi != OPEN or key not in found:
                    found[key] = {"no": no, "lo": lo} | ({} if hi == OPEN else {"hi": hi})
        return found

    def remove(self) -> None:
        for path in self.there.values():
            path.unlink()
        self.there = {}
