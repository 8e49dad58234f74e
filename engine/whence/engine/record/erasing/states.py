"""What a run that is not over keeps to go on with: states, checkpoints, rows that wait."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from whence.engine.record.erasing.logs import overwrite
from whence.engine.record.files import remove_tree
from whence.engine.record.folders import log_folder
from whence.engine.record.journal import read_manifest, remove_journals
from whence.engine.record.logs import LogRecord
from whence.engine.record.manifest import LISTS, write_manifest
from whence.engine.record.runs import RunRecord, now
from whence.engine.record.staged import STAGED
from whence.engine.record.writing import LOCK, WritingLock

__all__ = ["end_without_state", "waiting_rows"]

_STATES = ("stream", STAGED, "state.arrow")
"""Of streams, of tasks on Spark, and of all other runs."""


def waiting_rows(run: RunRecord) -> Iterator[pa.Table]:
    """The rows of a stream that have arrived and are in no part of its log yet."""
    from whence.engine.kernels.columns.texts import Texts
    from whence.engine.kernels.state import read_state

    for path in sorted((run.folder / "stream").glob("state-*.arrow")):
        yield read_state(path, Texts())["log"]["held"]


def end_without_state(run: RunRecord, erasure: str) -> None:
    """End a run that was interrupted: all that it would go on with is removed; may be done again.

    Parts that were written and are listed nowhere go as well.
    """
    lock = WritingLock(run.folder)
    try:
        manifest = read_manifest(run.folder)
        for name in _STATES:
            _remove(run.folder / name)
        if manifest.is_running:
            manifest = replace(manifest, status="failed", ended=now())
        error = f"its state was erased with {erasure}; begin a new run"
        write_manifest(run.folder, replace(manifest, error=error))
        remove_journals(run.folder)
        listed = {
            run.path(what, stream.name, part)
            for stream in manifest.streams
            for what in LISTS
            for part in stream.parts(what).numbers
        }
        for path in run.folder.rglob("part-*.parquet"):
            if path not in listed:
                overwrite(path)
        for id in manifest.logs.values():
            _cut(LogRecord.open(log_folder(run.root, id)))
    finally:
        lock.release()
    (run.folder / LOCK).unlink(missing_ok=True)


def _cut(log: LogRecord) -> None:
    """Remove parts of a log that its manifest does not count."""
    for path in log.folder.glob("part-*.parquet"):
        if int(path.stem.removeprefix("part-")) >= log.manifest.parts:
            overwrite(path)


def _remove(path: Path) -> None:
    if not path.is_dir():
        overwrite(path)
        return
    for file in path.rglob("*"):
        if file.is_file():
            overwrite(file)
    remove_tree(path, strict=True)
