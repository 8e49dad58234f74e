"""Take the values of events out of the streams of a run; what leads to what stays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa

from whence.engine.lineage.positions import Intervals, of_positions, union
from whence.engine.record.coded import coded
from whence.engine.record.erased import ERASED, within
from whence.engine.record.files import file_digest, write_table
from whence.engine.record.journal import read_manifest, remove_journals
from whence.engine.record.manifest import (
    PartInfo,
    Parts,
    RunManifest,
    StreamInfo,
    write_manifest,
)
from whence.engine.record.runs import RunRecord
from whence.engine.record.schema import IN_ORDER, OUTPUTS
from whence.engine.record.selected import selector
from whence.engine.record.writing import WritingLock
from whence.engine.values.arrow_compute import pc

__all__ = ["erase_in_run"]


def erase_in_run(run: RunRecord, streams: Mapping[str, Intervals], erasure: str) -> None:
    """Take the values of some events of a run away; may be done again.

    Args:
        run: the run; it must not be going on.
        streams: the events, by stream.
        erasure: the id of the erasure, which the run's manifest names from now on.
    """
    lock = WritingLock(run.folder)
    try:
        manifest = read_manifest(run.folder)
        if manifest.options.is_selective:
            manifest = _with_left_out(run, manifest, streams)
            write_manifest(run.folder, manifest)
        changed = [_erased(run, s, streams.get(s.name, ())) for s in manifest.streams]
        known = dict.fromkeys((*manifest.erasures, erasure))
        manifest = replace(manifest, streams=tuple(changed), erasures=tuple(known))
        if manifest.error is not None:
            # It may repeat a value.
            manifest = replace(manifest, error=f"erased with {erasure}")
        write_manifest(run.folder, manifest)
        remove_journals(run.folder)
    finally:
        lock.release()


def _with_left_out(
    run: RunRecord, manifest: RunManifest, streams: Mapping[str, Intervals]
) -> RunManifest:
    """Say of outputs that ``where=`` left out that it did, while their values are there.

    Without that nobody could tell afterwards an output that was not tracked from one that nothing
    explains. Of one that was erased already it is known, or was not asked.
    """
    selected = selector(manifest)
    changed = []
    for stream in manifest.streams:
        places = streams.get(stream.name, ())
        found = stream.unselected
        for part in stream.outputs.numbers if places and stream.role.is_output else ():
            table = run.outputs(stream.name, part)
            positions = table.column("position").to_numpy()
            left_out = ~selected(stream.name, table) & within(positions, places)
            found = union(found, of_positions(positions[left_out].tolist()))
        changed.append(replace(stream, unselected=found))
    return replace(manifest, streams=tuple(changed))


def _erased(run: RunRecord, stream: StreamInfo, places: Intervals) -> StreamInfo:
    """Erase in every part of a stream; the stream as it is then."""
    if not places:
        return stream
    outputs = Parts.of(_erase_part(run, stream.name, part, places) for part in stream.outputs)
    return replace(stream, outputs=outputs, erased=union(stream.erased, places))


def _erase_part(run: RunRecord, stream: str, part: PartInfo, places: Intervals) -> PartInfo:
    path = run.path("outputs", stream, part.part)
    table = run.outputs(stream, part.part).cast(OUTPUTS)
    gone = within(table.column("position").to_numpy(), places)
    if not gone.any():
        return part
    mask = pa.array(np.asarray(gone))
    for name, text in (("kind", ERASED), ("value", "null")):
        at = table.schema.get_field_index(name)
        column = pc.if_else(mask, pa.scalar(text), table.column(name).combine_chunks())
        table = table.set_column(at, name, column)
    write_table(path, coded(table), IN_ORDER)
    return replace(part, digest=file_digest(path))
