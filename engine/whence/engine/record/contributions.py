"""How many outputs each input event explains, counted from a record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count

from whence.engine.lineage.association import LOG_PREFIX, Association
from whence.engine.lineage.contributions import counted
from whence.engine.lineage.positions import Ints
from whence.engine.record.manifest import RunManifest
from whence.engine.record.runs import RunRecord

__all__ = ["contributions"]


def contributions(
    record: RunRecord, tell: Callable[[int, int], None] = lambda done, total: None
) -> dict[str, Ints]:
    """Of every input event, by log and position, how many outputs of the chain it explains.

    A log that the chain reads under several names is counted under the first of them, and so is a
    stream of another run, whatever its columns are said to mean.

    Args:
        record: a run that was tracked.
        tell: called with the number of parts read so far, and of all parts.
    """
    manifest = record.manifest
    logs = {name: record.log(name) for name in manifest.logs}
    first: dict[object, str] = {}
    for name, log in logs.items():
        first.setdefault(log.made_by or log.id, name)
    same = {
        LOG_PREFIX + name: LOG_PREFIX + first[log.made_by or log.id] for name, log in logs.items()
    }
    rows = (
        row if same.get(row.to, row.to) == row.to else replace(row, to=same[row.to])
        for row in _reasons(record, manifest, tell)
    )
    lengths = {name: logs[name].length for name in first.values()}
    outputs = {s.name: s.length for s in manifest.outputs}
    return counted(rows, lengths, outputs)


def _reasons(
    record: RunRecord, manifest: RunManifest, tell: Callable[[int, int], None]
) -> Iterator[Association]:
    """Every association but those that only support; neighbours that go on alike are one band."""
    total = sum(len(stream.associations) for stream in manifest.streams)
    done = count(1)
    for stream in manifest.streams:
        name = stream.name
        for part in stream.associations.numbers:
            found = record.blocks(name, part)
            tell(next(done), total)
            for block in found.blocks:
                if block.relation != "supports":
                    yield from block.as_bands(name)
