"""Take the values of events out of the streams of a run; what leads to what stays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from whence.engine.arrow_compute import pc
from whence.engine.intervals import Intervals, of_positions, union
from whence.engine.record.coded import coded
from whence.engine.record.erasing.logs import erased_in, within
from whence.engine.record.files import file_digest, write_json, write_table
from whence.engine.record.journal import read_manifest, remove_journals
from whence.engine.record.runs import RunRecord
from whence.engine.record.schema import IN_ORDER, OUTPUTS
from whence.engine.record.writing import WritingLock

__all__ = ["ERASED", "erase_in_run"]

ERASED = "erased"
"""The kind of an output whose value was erased."""


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
        if _told_left_out(run, manifest, streams):
            write_json(run.folder / "manifest.json", manifest)
        for stream in manifest["streams"]:
            places = streams.get(stream["name"], ())
            if not places:
                continue
            for part in stream["outputs"]:
                _erase_part(run, stream["name"], part, places)
            stream["erased"] = [[lo, hi] for lo, hi in union(erased_in(stream), places)]
        if manifest["error"] is not None:
            manifest["error"] = f"erased with {erasure}"  # it may repeat a value
        known = [*manifest.get("erasures", ()), erasure]
        manifest["erasures"] = list(dict.fromkeys(known))
        write_json(run.folder / "manifest.json", manifest)
        remove_journals(run.folder)
    finally:
        lock.release()


def _told_left_out(
    run: RunRecord, manifest: Mapping[str, Any], streams: Mapping[str, Intervals]
) -> bool:
    """Say of outputs that ``where=`` left out that it did, while their values are there.

    Without that nobody could tell afterwards an output that was not tracked from one that nothing
    explains. Of one that was erased already it is known, or was not asked.
    """
    from whence.engine.runners.selected import is_selected, selector

    if not is_selected(manifest):
        return False
    selected = selector(manifest)
    for stream in manifest["streams"]:
        places = streams.get(stream["name"], ())
        found = tuple((lo, hi) for lo, hi in stream.get("unselected", ()))
        for part in stream["outputs"] if places and stream["role"] == "output" else ():
            table = run.outputs(stream["name"], part["part"])
            positions = table.column("position").to_numpy()
            left_out = ~selected(stream["name"], table) & within(positions, places)
            found = union(found, of_positions(positions[left_out].tolist()))
        if found:
            stream["unselected"] = [[lo, hi] for lo, hi in found]
    return True


def _erase_part(run: RunRecord, stream: str, part: dict[str, Any], places: Intervals) -> None:
    path = run.path("outputs", stream, part["part"])
    table = run.outputs(stream, part["part"]).cast(OUTPUTS)
    gone = within(table.column("position").to_numpy(), places)
    if not gone.any():
        return
    mask = pa.array(np.asarray(gone))
    for name, text in (("kind", ERASED), ("value", "null")):
        at = table.schema.get_field_index(name)
        column = pc.if_else(mask, pa.scalar(text), table.column(name).combine_chunks())
        table = table.set_column(at, name, column)
    write_table(path, coded(table), IN_ORDER)
    part["digest"] = file_digest(path)
