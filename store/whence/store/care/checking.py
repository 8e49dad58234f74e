"""Is the graph whole? Every chunk against its marker, what belongs to nobody, missing indexes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from whence.engine.errors import LogError
from whence.engine.lineage.positions import Range
from whence.engine.progress import Listener, Reporter
from whence.engine.record import RunRecord, record_place
from whence.engine.record.writing import LOADING, is_being_written
from whence.store.care.contents import Contents, Marker, StoredRun, contents
from whence.store.care.heads import head_findings
from whence.store.care.packed import PackedCheck
from whence.store.connection import Connection
from whence.store.cypher import cypher, schema
from whence.store.loading.numbers import COUNTERS, number
from whence.store.loading.parts import ENDED, parts_listed
from whence.store.loading.pieces import without_piece
from whence.store.loading.reading_back import SeenChunk, read_chunk
from whence.store.migrations import VERSION, graph_version
from whence.store.places import WIDE

__all__ = ["CheckReport", "Finding", "check"]


RANGES = 1000
LAST_KEY = (1 << 63) - 1


@dataclass(frozen=True)
class Finding:
    """Something that is not as it should be.

    Attributes:
        kind: chunk, packed, heads, missing, half, unknown, orphan, index, counter or version.
        about: the chunk, run, log or index.
        problem: what is wrong, in one line.
    """

    kind: str
    about: str
    problem: str

    def __str__(self) -> str:
        """One line."""
        return f"{self.kind} {self.about}: {self.problem}"


@dataclass(frozen=True)
class CheckReport:
    """What was looked at, and what was found.

    Attributes:
        chunks: how many chunks were compared.
        events: how many events they hold.
        edges: how many relationships they hold.
        without_record: the runs whose record is not here: their heads were not compared.
        findings: what is wrong; empty if all is well.
    """

    chunks: int
    events: int
    edges: int
    without_record: tuple[str, ...]
    findings: tuple[Finding, ...]


def check(
    connection: Connection, record: Path | None = None, progress: Listener | None = None
) -> CheckReport:
    """Compare the whole graph with its markers, and with the record as far as it is there.

    Nothing is changed. A graph that is being loaded meanwhile may show what is not yet done.

    Args:
        connection: where the graph is.
        record: the record's place, if it is not where records usually are.
        progress: told how far it has come.
    """
    report = Reporter(progress, "checking", "chunks")
    held = contents(connection)
    found = [*_indexes(connection), *_numbers(held), *_owners(held)]
    found += [*_version(connection), *_doomed(connection)]
    whole, packed = SeenChunk(), PackedCheck(connection)
    for done, marker in enumerate(held.markers):
        report(done, len(held.markers), "checking chunks")
        seen = read_chunk(connection, marker.owns, marker.keys, marker.merged)
        whole.add(seen)
        wrong = list(_compared(marker, seen))
        problem = packed.problem(marker.id, seen.packing)
        if problem is not None and not wrong:
            wrong.append(Finding("packed", marker.id, problem))
        found.extend(wrong)
    found.extend(_stray_events(connection, held))
    found.extend(_stray_spans(connection, held, whole))
    there = {marker.id for marker in held.markers}
    without: list[str] = []
    for run in held.runs.values():
        try:
            kept = RunRecord(record_place(record), run.id)
        except LogError:
            without.append(run.id)
            found.extend(_half_loaded(held, run))
            continue
        found.extend(_against_record(held, run, kept))
        found.extend(
            Finding("heads", f"{run.id}/{name}", problem)
            for name, problem in head_findings(connection, run, kept, there)
        )
    found.extend(_packed_heads(held, packed, found))
    report(len(held.markers), len(held.markers), "checking chunks")
    counts = (len(held.markers), whole.events, whole.edges)
    return CheckReport(*counts, tuple(without), tuple(found))


def _packed_heads(
    held: Contents, packed: PackedCheck, found: Sequence[Finding]
) -> Iterator[Finding]:
    """Heads that are packed otherwise, unless the record says that it is they that are wrong."""
    wrong = {finding.about for finding in found if finding.kind == "heads"}
    names = {
        no: f"{run.id}/{name}" for run in held.runs.values() for no, name in run.streams.items()
    }
    for no, told in packed.of_heads():
        if names.get(no) not in wrong:
            yield Finding("packed", f"number {no}", told)


def _version(connection: Connection) -> Iterator[Finding]:
    version = graph_version(connection)
    if version not in (VERSION, None):
        yield Finding("version", "graph", f"expected {VERSION}; got {version}; try whence load")


def _doomed(connection: Connection) -> Iterator[Finding]:
    for row in connection.read(cypher("doomed_read")):
        problem = "expected its events to be gone; got a removal that was interrupted"
        yield Finding("orphan", f"number {row['no']}", f"{problem}; try whence runs prune")


def _compared(marker: Marker, seen: SeenChunk) -> Iterator[Finding]:
    counts = [
        ("events", marker.events, seen.events),
        ("spans", marker.spans - marker.heads, seen.bands.total()),
        ("relationships", marker.edges, seen.edges),
        ("events of logs", len(marker.merged), seen.merged),
    ]
    wrong = [(name, wanted, got) for name, wanted, got in counts if wanted != got]
    for name, wanted, got in wrong:
        yield Finding("chunk", marker.id, f"expected {wanted:,} {name}; got {got:,}")
    if not wrong and marker.digest != seen.digest:
        yield Finding("chunk", marker.id, "expected the digest of its marker; got another one")


def _indexes(connection: Connection) -> Iterator[Finding]:
    states = {
        row["name"]: row["state"]
        for row in connection.read("SHOW INDEXES YIELD name, state RETURN name, state")
    }
    constraints = {
        row["name"] for row in connection.read("SHOW CONSTRAINTS YIELD name RETURN name")
    }
    for statement in schema():
        found = re.match(r"CREATE (CONSTRAINT|INDEX) (\w+)", statement)
        assert found is not None, statement
        kind, name = found[1], found[2]
        if name not in states or (kind == "CONSTRAINT" and name not in constraints):
            yield Finding("index", name, f"expected this {kind.lower()}; got none; try whence load")
        elif states[name] != "ONLINE":
            yield Finding("index", name, f"expected it to be online; got {states[name].lower()}")


def _numbers(held: Contents) -> Iterator[Finding]:
    for name in COUNTERS:
        last = number(name, held.last_numbers.get(name, 0))
        highest = max((no for no in held.numbers if (no >= WIDE) == (name == "wide")), default=0)
        if highest > last:
            problem = f"expected numbers up to {last}; got {highest} in use"
            yield Finding("counter", name, problem)


def _owners(held: Contents) -> Iterator[Finding]:
    for marker in held.markers:
        kind, owner = marker.owner
        if owner not in (held.logs if kind == "log" else held.runs):
            yield Finding("orphan", marker.id, f"expected its {kind} in the graph; got none")
    for each in held.collections:
        if each["log"] and not each["users"]:
            yield Finding("orphan", f"log {each['id']}", "expected a run that reads it; got none")
        if not each["log"] and not each["makers"]:
            yield Finding("orphan", f"stream {each['id']}", "expected its run; got none")


def _stray_events(connection: Connection, held: Contents) -> Iterator[Finding]:
    """Events that no chunk owns."""
    singly = held.singly()
    ends = [(-1, -1), *held.owned(), (LAST_KEY, LAST_KEY)]
    gaps: list[Range] = []
    for (_, before), (after, _) in pairwise(ends):
        if before + 1 < after:
            gaps.append((before + 1, after - 1))
    for at in range(0, len(gaps), RANGES):
        some: Sequence[Range] = gaps[at : at + RANGES]
        for row in connection.read(cypher("check_strays"), ranges=[list(gap) for gap in some]):
            known = int(np.searchsorted(singly, row["last"], side="right"))
            known -= int(np.searchsorted(singly, row["first"]))
            stray = row["events"] - known
            if stray <= 0:
                continue
            where = f"{row['first']} to {row['last']}"
            problem = f"expected a chunk that owns them; got {stray:,} events"
            yield Finding("orphan", f"keys {where}", problem)


def _stray_spans(connection: Connection, held: Contents, whole: SeenChunk) -> Iterator[Finding]:
    for row in connection.read(cypher("check_spans")):
        no, bands, heads = row["no"], row["bands"], row["heads"]
        if no not in held.numbers:
            problem = f"expected a stream of that number; got {bands + heads:,} spans"
            yield Finding("orphan", f"number {no}", problem)
        elif bands != whole.bands[no]:
            problem = f"expected {whole.bands[no]:,} spans, those of its chunks; got {bands:,}"
            yield Finding("orphan", f"number {no}", problem)


def _against_record(held: Contents, run: StoredRun, kept: RunRecord) -> Iterator[Finding]:
    """Parts of the record that the graph lacks, and chunks that no record knows."""
    there = {marker.id for marker in (*held.of("run", run.id), *_of_logs(held, run))}
    listed = set(parts_listed(kept, selected=run.selected))
    if run.loaded:
        for id in sorted(listed - there):
            yield Finding("missing", id, "expected its chunk, since its run is loaded; got none")
    else:
        yield from _half_in_record(run, kept, len(listed), len(listed - there))
    for id in sorted(there - listed):
        if id.startswith("run/") and without_piece(id) not in listed:
            yield Finding("unknown", id, "expected a part of the record; got none of that name")


def _half_in_record(run: StoredRun, kept: RunRecord, every: int, lacking: int) -> Iterator[Finding]:
    """A run whose loading was interrupted, unless a process is at it."""
    status = kept.manifest.status
    unfinished = status in ENDED or (status == "interrupted" and lacking > 0)
    if unfinished and not is_being_written(kept.folder, LOADING):
        got = f"{every - lacking:,} of them" if lacking else "all of them, but not their end"
        problem = f"expected the {every:,} chunks of its record; got {got}"
        yield Finding("half", run.id, f"{problem}; try whence load {run.id}")


def _half_loaded(held: Contents, run: StoredRun) -> Iterator[Finding]:
    """The same by what the graph says of the run, where its record is not here."""
    if not run.loaded and run.status in ENDED:
        got = sum(1 for _ in held.of("run", run.id))
        problem = f"expected all chunks of a run that is {run.status}; got {got:,}, not the last"
        yield Finding("half", run.id, f"{problem}; try whence load {run.id} where its record is")


def _of_logs(held: Contents, run: StoredRun) -> Iterator[Marker]:
    for log in run.logs:
        yield from held.of("log", log)
