"""What a chunk writes: a part of a log or of a stream, as rows for the graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import pyarrow as pa

from whence.engine.errors import StoreError
from whence.engine.lineage.association import Association
from whence.engine.lineage.block import Associations
from whence.engine.record.manifest import LogManifest, StreamInfo, StreamRole
from whence.store.loading.bands import heads_as_bands
from whence.store.loading.blocks import head_spans, literal_edges
from whence.store.loading.digest import ChunkDigest
from whence.store.loading.values import input_properties, output_properties
from whence.store.packed import Packing
from whence.store.places import key_of, no_of

__all__ = [
    "ChunkContent",
    "Directory",
    "Row",
    "add_choices",
    "alike",
    "log_content",
    "stream_content",
]

Row = dict[str, Any]

DERIVED, INFLUENCED = "wasDerivedFrom", "wasInfluencedBy"
BAND = ("a", "b", "sa", "sb")
RELATIONSHIPS = {"explains": "derived", "trigger": "derived", "supports": "influenced"}


@dataclass(frozen=True)
class Directory:
    """Where the names in a record lead to in the graph.

    Attributes:
        numbers: number of each log (``log:NAME``) and stream, by its name in the record.
        roles: the streams' roles.
        secret: the record's, the key of digests of long texts.
    """

    numbers: Mapping[str, int]
    roles: Mapping[str, StreamRole]
    secret: bytes = field(default=b"", repr=False)


@dataclass
class ChunkContent:
    """The rows of one chunk, each list for one statement.

    Attributes:
        label: inputs, outputs or events: which kind of events these are.
        events: properties of each event.
        choices: properties of each choice that these events are the first to meet.
        derived: edges to what explains.
        influenced: edges to what supports beyond that.
        end: edges from the end of a pipe.
        derived_spans: spans with bands to what explains.
        influenced_spans: spans with bands to what supports beyond that.
        heads: from where to where inner events are heads.
        merged: events of logs that are merged by key, by their kind: inputs, outputs or events.
        inner: properties of events of other streams that come along with these.
        selected: whether its events stand apart, so that its marker names them one by one.
    """

    label: str = "events"
    events: list[Row] = field(default_factory=list)
    choices: list[Row] = field(default_factory=list)
    derived: list[Row] = field(default_factory=list)
    influenced: list[Row] = field(default_factory=list)
    end: list[Row] = field(default_factory=list)
    derived_spans: list[Row] = field(default_factory=list)
    influenced_spans: list[Row] = field(default_factory=list)
    heads: list[Row] = field(default_factory=list)
    merged: dict[str, list[Row]] = field(default_factory=dict)
    inner: list[Row] = field(default_factory=list)
    selected: bool = False

    @property
    def keys(self) -> list[int]:
        """The keys of the events that are its own."""
        return [int(row["key"]) for row in (*self.events, *self.choices, *self.inner)]

    @property
    def merged_keys(self) -> list[int]:
        """The keys of the events that are merged."""
        return [int(row["key"]) for rows in self.merged.values() for row in rows]

    @property
    def spans(self) -> int:
        """How many spans there are, heads included."""
        return len(self.derived_spans) + len(self.influenced_spans) + len(self.heads)

    @property
    def edges(self) -> int:
        """How many relationships will be made."""
        literal = sum(len(r["to"]) for r in (*self.derived, *self.influenced, *self.end))
        return literal + len(self.derived_spans) + len(self.influenced_spans)

    @property
    def owns(self) -> list[int]:
        """The first and the last key of its events, then of its choices; of an end its own."""
        several = (self.end,) if self.selected else (self.events, self.choices, self.end)
        keys = [[int(row["key"]) for row in rows] for rows in several if rows]
        spans = [row["span"] for row in (*self.derived_spans, *self.influenced_spans)]
        if spans:  # an end may lean on bands alone, and has no event of its own
            named = {no_of(key) for key in (*self.keys, *(some[0] for some in keys))}
            ends = {key_of(span["no"], span["lo"]) for span in spans if span["no"] not in named}
            keys += [[key] for key in sorted(ends)]
        return [end for some in keys for end in (min(some), max(some))]

    def sort(self) -> None:
        """Put the rows into the order in which they are written."""
        own = (self.events, self.choices, self.inner, *self.merged.values())
        for rows in (*own, self.derived, self.influenced, self.end, self.heads):
            rows.sort(key=lambda row: int(row["key"]))

    def digest(self) -> str:
        """SHA-256 over keys and edges; values and heads are not part of it."""
        told = ChunkDigest()
        told.events(self.keys)
        told.events(self.merged_keys)
        self._tell(told)
        return told.text()

    def packed(self) -> tuple[bytes, list[int]]:
        """Edges, spans and heads in few bytes, and between which events they lead."""
        packing = Packing()
        self._tell(packing)
        spans = [(row["key"], row["span"]) for row in self.heads]
        packing.heads([[key, s["no"], s["lo"], s.get("hi", -1)] for key, s in spans])
        return packing.packed()

    def _tell(self, told: ChunkDigest | Packing) -> None:
        """Tell of all edges and spans."""
        literal = (DERIVED, self.derived), (INFLUENCED, (*self.influenced, *self.end))
        for type, rows in literal:
            for properties, some in alike(rows):
                source = [row["key"] for row in some for _ in row["to"]]
                told.edges(type, properties, source, [key for row in some for key in row["to"]])
        spans = (DERIVED, self.derived_spans), (INFLUENCED, self.influenced_spans)
        for type, rows in spans:
            for properties, some in alike(rows):
                told.bands(type, properties, [_band_row(row) for row in some])


def alike(rows: Iterable[Row]) -> Iterator[tuple[Row, list[Row]]]:
    """Rows by the properties of their relationships, those of a band itself left out."""
    found: dict[str, tuple[Row, list[Row]]] = {}
    known: dict[int, list[Row]] = {}  # by the object: mostly a few of them, again and again
    for row in rows:
        alike = known.get(id(row["with"]))
        if alike is None:
            properties = {name: v for name, v in row["with"].items() if name not in BAND}
            alike = found.setdefault(repr(properties), (properties, []))[1]
            known[id(row["with"])] = alike
        alike.append(row)
    yield from found.values()


def _band_row(row: Row) -> list[int]:
    span = row["span"]
    return [span["no"], span["lo"], span["hi"], row["to"], *(row["with"][name] for name in BAND)]


def log_content(no: int, manifest: LogManifest, table: pa.Table, secret: bytes) -> ChunkContent:
    """A part of a log: its events with the columns for searching."""
    return ChunkContent("inputs", input_properties(no, manifest, table, secret))


def stream_content(
    stream: StreamInfo,
    directory: Directory,
    outputs: pa.Table | None,
    rows: Sequence[Association] | Associations,
    *,
    tracked: Sequence[bool] | None = None,
) -> ChunkContent:
    """A part of a stream: its events, and what they lead to.

    Args:
        stream: as the manifest lists it.
        directory: where names lead to.
        outputs: the part's events; ``None`` for streams without.
        rows: the part's associations, compact or not.
        tracked: of each event whether it was tracked, if only some were; the others are marked.
    """
    role = stream.role
    no = directory.numbers[stream.name]
    content = ChunkContent("outputs" if role.is_output else "events")
    if isinstance(rows, Associations):
        simple = not role.is_end
        rows = list(_add_simple(content, rows, no, role, directory) if simple else rows.rows())
    if outputs is not None:
        content.events = output_properties(no, outputs, directory.secret)
        for event, told in zip(content.events, tracked or (), strict=False):
            if not told:
                event["untracked"] = True
    for row in heads_as_bands(rows, lambda name: directory.roles.get(name) is StreamRole.HEADS):
        _add(content, row, no, role, directory)
    content.sort()
    return content


def _add_simple(
    content: ChunkContent,
    associations: Associations,
    no: int,
    role: StreamRole,
    directory: Directory,
) -> Iterator[Association]:
    """Add what can be made from columns; give the rows of everything else."""
    for block in associations.blocks:
        to = directory.numbers.get(block.to)
        edges = None
        if to is None:
            pass
        elif role.is_heads and block.kind == "zones":
            content.heads.extend(head_spans(block, no, to))
            continue
        elif directory.roles.get(block.to) is StreamRole.HEADS:
            along = block.sa == block.sb == 1 and not block.width.any()
            yield from (block.as_bands if along else block.rows)(associations.stream)
            continue
        else:
            edges = literal_edges(block, no, to)
        if edges is None:
            yield from block.rows(associations.stream)
        else:
            getattr(content, RELATIONSHIPS[block.relation]).extend(edges)


def add_choices(
    content: ChunkContent,
    stream: StreamInfo,
    directory: Directory,
    choices: pa.Table,
    rows: Sequence[Association],
) -> None:
    """Add the choices that a part's events are the first to meet.

    Args:
        content: what the part writes.
        stream: the stream of choices, as the manifest lists it.
        directory: where names lead to.
        choices: as the record has them.
        rows: where their options lead to.
    """
    no = directory.numbers[stream.name]
    content.choices = output_properties(no, choices, directory.secret)
    for row in heads_as_bands(rows, lambda name: directory.roles.get(name) is StreamRole.HEADS):
        _add(content, row, no, stream.role, directory)
    content.sort()


def _add(
    content: ChunkContent, row: Association, no: int, role: StreamRole, directory: Directory
) -> None:
    to = directory.numbers.get(row.to)
    if to is None:
        known = ", ".join(sorted(directory.numbers))
        msg = (
            f"the record: expected {row.stream} to refer to a log or stream of the run; "
            f"got {row.to!r}; try one of {known}"
        )
        raise StoreError(msg)
    if row.kind == "list":
        literal = {
            "key": key_of(no, row.lo),
            "to": [key_of(to, position) for position in row.inputs],
            "with": _properties(row),
        }
        if role.is_end:
            content.end.append(literal)
        else:
            getattr(content, RELATIONSHIPS[row.relation]).append(literal)
    elif row.kind == "zone" and role.is_heads:
        span = {"no": no, "lo": row.lo} | ({} if row.hi is None else {"hi": row.hi})
        content.heads.append({"key": key_of(to, row.inputs[0]), "span": span})
    else:
        content_rows = getattr(content, f"{RELATIONSHIPS[row.relation]}_spans")
        content_rows.append(_span(row, no, to))


def _span(row: Association, no: int, to: int) -> Row:
    if row.hi is None:
        msg = (
            f"the record: expected {row.stream} to say where its {row.kind} from {row.lo} ends; "
            "got none; try a zone that stays open only among a Slice's heads"
        )
        raise StoreError(msg)
    if row.kind == "zone":
        # The same event for each output: a band that does not move.
        (position,) = row.inputs
        band = {"a": position, "b": position, "sa": 0, "sb": 0}
    else:
        band = {"a": row.a, "b": row.b, "sa": row.sa, "sb": row.sb}
    span = {"no": no, "lo": row.lo, "hi": row.hi}
    return {"span": span, "to": to, "with": band | _properties(row)}


def _properties(row: Association) -> Row:
    """Only what is there: most edges carry nothing. Those that carry the same share it."""
    return _carried(row.relation == "trigger", row.fields, row.copy, row.witness)


@lru_cache(4096)
def _carried(
    trigger: bool,
    fields: tuple[str, ...] | None,
    copy: bool,
    witness: tuple[int, ...] | None,
) -> Row:
    properties: Row = {}
    if trigger:
        properties["trigger"] = True
    if fields is not None:
        properties["fields"] = list(fields)
    if copy:
        properties["copy"] = True
    if witness is not None:
        properties["witness"] = list(witness)
    return properties
