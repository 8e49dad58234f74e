"""The heads of slices in the graph against the record: one chunk begins them, another ends them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from whence.engine.lineage.block import OPEN as UNTIL_NOW
from whence.engine.lineage.heads import HeadZones
from whence.engine.record import RunRecord
from whence.engine.record.manifest import StreamInfo
from whence.store.care.contents import StoredRun
from whence.store.connection import Connection
from whence.store.loading.parts import RecordParts
from whence.store.loading.reading_back import heads_in_graph, in_order
from whence.store.loading.selected_heads import heads_asked_for
from whence.store.places import key_of

__all__ = ["head_findings"]

Ints = npt.NDArray[np.int64]

OPEN = -1


def head_findings(
    connection: Connection, run: StoredRun, kept: RunRecord, loaded: set[str]
) -> Iterator[tuple[str, str]]:
    """Say of each stream of heads what is not in the graph as the record has it.

    Args:
        connection: where the graph is.
        run: the run as the graph has it.
        kept: the run's record.
        loaded: the ids of the chunks that are there; no others are expected.
    """
    numbers = {name: no for no, name in run.streams.items()}
    asked = _asked_for(kept, numbers, loaded) if run.selected else {}
    for stream in kept.manifest.streams:
        name = stream.name
        if not stream.role.is_heads or name not in numbers:
            continue
        if run.selected:
            wanted = asked.get(name, np.empty((0, 3), np.int64))
        else:
            wanted = _of_record(kept, stream, numbers, loaded)
        got = heads_in_graph(connection, numbers[name])
        if np.array_equal(wanted, got):
            continue
        lacking, extra = _different(wanted, got), _different(got, wanted)
        yield name, f"expected {len(wanted):,} heads; got {lacking:,} not so, and {extra:,} others"


def _of_record(
    kept: RunRecord, stream: StreamInfo, numbers: dict[str, int], loaded: set[str]
) -> Ints:
    """Each head's key, and from which output to which; one that was open and ended counts once."""
    name = stream.name
    numbered = stream.associations.numbers
    there = [number for number in numbered if f"run/{kept.id}/{name}/{number}" in loaded]
    blocks = (block for number in there for block in kept.blocks(name, number).blocks)
    found = [np.empty((0, 3), np.int64)]
    for to, zones in HeadZones.of(blocks).items():
        ends = np.where(zones.hi == UNTIL_NOW, OPEN, zones.hi)
        keys = zones.event + key_of(numbers[to], 0)
        found.append(np.stack([keys, zones.lo, ends], axis=1))
    return in_order(np.concatenate(found))


def _asked_for(kept: RunRecord, numbers: dict[str, int], loaded: set[str]) -> dict[str, Ints]:
    """The heads that selected outputs lean on, by stream, as `_of_record` tells of them."""
    parts = RecordParts(kept, kept.manifest, numbers, selected=True)
    ancestry = parts.ancestry()
    for part in parts:
        if parts.id(part) in loaded:
            ancestry.know(ancestry.bring(part.owner, part.number))
    found: dict[str, list[Ints]] = {}
    for name, heads in heads_asked_for(ancestry, parts.directory):
        heads[heads[:, 2] == UNTIL_NOW, 2] = OPEN
        found.setdefault(name, []).append(heads)
    return {name: in_order(np.concatenate(several)) for name, several in found.items()}


def _different(some: Ints, others: Ints) -> int:
    known = set(map(tuple, others.tolist()))
    return sum(1 for row in map(tuple, some.tolist()) if row not in known)
