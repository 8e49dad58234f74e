"""The heads of slices in the graph against the record: one chunk begins them, another ends them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from whence.engine.record import RunRecord
from whence.engine.record.schema import associations_of
from whence.store.care.contents import StoredRun
from whence.store.connection import Connection
from whence.store.cypher import cypher
from whence.store.loading import zones
from whence.store.loading.parts import RecordParts
from whence.store.loading.selected_heads import heads_asked_for
from whence.store.places import key_of

__all__ = ["head_findings"]

Ints = npt.NDArray[np.int64]

OUTPUTS = 20_000
"""Outputs a query; each of them begins at most a few heads."""
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
    for stream in kept.manifest["streams"]:
        name = stream["name"]
        if stream["role"] != "heads" or name not in numbers:
            continue
        if run.selected:
            wanted = asked.get(name, np.empty((0, 3), np.int64))
        else:
            wanted = _of_record(kept, stream, numbers, loaded)
        got = _of_graph(connection, numbers[name])
        if np.array_equal(wanted, got):
            continue
        lacking, extra = _different(wanted, got), _different(got, wanted)
        yield name, f"expected {len(wanted):,} heads; got {lacking:,} not so, and {extra:,} others"


def _of_record(
    kept: RunRecord, stream: dict[str, object], numbers: dict[str, int], loaded: set[str]
) -> Ints:
    """Each head's key, and from which output to which; one that was open and ended counts once."""
    found: list[tuple[int, int, int]] = []
    name = str(stream["name"])
    parts: list[dict[str, int]] = stream["associations"]  # type: ignore[assignment]
    for part in parts:
        if f"run/{kept.id}/{name}/{part['part']}" not in loaded:
            continue
        for row in associations_of(kept.associations(name, part["part"]), name):
            key = key_of(numbers[row.to], row.inputs[0])
            found.append((key, row.lo, OPEN if row.hi is None else row.hi))
    rows = _sorted(np.asarray(found, np.int64).reshape(-1, 3))
    last = np.append(rows[1:, 0] != rows[:-1, 0], True)[: len(rows)]
    kept_rows: Ints = rows[last]
    return kept_rows


def _asked_for(kept: RunRecord, numbers: dict[str, int], loaded: set[str]) -> dict[str, Ints]:
    """The heads that selected outputs lean on, by stream, as `_of_record` tells of them."""
    parts = RecordParts(kept, kept.manifest, numbers, selected=True)
    ancestry = parts.ancestry()
    for part in parts:
        if parts.id(part) in loaded:
            ancestry.know(ancestry.bring(part.owner, part.number))
    found: dict[str, list[Ints]] = {}
    for name, heads in heads_asked_for(ancestry, parts.directory):
        heads[heads[:, 2] == zones.OPEN, 2] = OPEN
        found.setdefault(name, []).append(heads)
    return {name: _sorted(np.concatenate(several)) for name, several in found.items()}


def _of_graph(connection: Connection, no: int) -> Ints:
    (highest,) = connection.read(cypher("check_last_head"), no=no)
    found = [np.empty((0, 3), np.int64)]
    for first in range(0, (highest["last"] or 0) + 1, OUTPUTS):
        place = {"no": no, "first": first, "last": first + OUTPUTS - 1}
        (row,) = connection.read(cypher("check_heads"), **place)
        columns = (np.asarray(row[each], np.int64) for each in ("keys", "los", "his"))
        found.append(np.stack(list(columns), axis=1))
    return _sorted(np.concatenate(found))


def _sorted(rows: Ints) -> Ints:
    return rows[np.lexsort(rows.T[::-1])]


def _different(some: Ints, others: Ints) -> int:
    known = set(map(tuple, others.tolist()))
    return sum(1 for row in map(tuple, some.tolist()) if row not in known)
