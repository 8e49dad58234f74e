"""Find the run that the same command continues: its process was killed before it had ended."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from whence.engine.record.folders import is_id, run_folder
from whence.engine.record.listing import list_runs
from whence.engine.record.manifest import MANIFEST
from whence.engine.record.runs import RunRecord
from whence.engine.record.writing import LOADING, LOCK, is_being_written, is_left

__all__ = ["forget_loading", "interrupted_run"]


def interrupted_run(
    root: Path, described: Mapping[str, Any], *, loading: bool = False
) -> str | None:
    """The newest run of this description, if it was interrupted; the same command continues it.

    Args:
        root: the record's place.
        described: what the manifest has to say.
        loading: whether a complete run counts that was interrupted while it was loaded.
    """
    # Runs that ended by themselves have no lock file, and the loaded ones have none either.
    patterns = (LOCK, LOADING) if loading else (LOCK,)
    found = (path.parent.name for name in patterns for path in (root / "runs").glob(f"*/{name}"))
    for id in sorted({id for id in found if is_id(id)}, reverse=True):
        if _is_interrupted(root, id, described, loading=loading):
            newer = (other for other in list_runs(root) if other > id)
            made_anew = any(_is_described(RunRecord(root, other), described) for other in newer)
            return None if made_anew else id
    return None


def _is_interrupted(root: Path, id: str, described: Mapping[str, Any], *, loading: bool) -> bool:
    if not (run_folder(root, id) / MANIFEST).exists():
        return False
    run = RunRecord(root, id)
    manifest = run.manifest
    if not manifest.describes(described):
        return False
    if manifest.is_running and is_left(run.folder):
        manifest = run.manifest  # it was killed a moment ago
    if loading and manifest.is_complete and (run.folder / LOADING).exists():
        return not is_being_written(run.folder, LOADING)
    return manifest.is_interrupted


def _is_described(run: RunRecord, described: Mapping[str, Any]) -> bool:
    manifest = run.manifest
    made_here = manifest.is_complete and not manifest.imported
    return made_here and manifest.describes(described)


def forget_loading(folder: Path) -> None:
    """Note that the loading of this run need not be continued: all of it is in the graph.

    Args:
        folder: the run's.
    """
    path = folder / LOADING
    if path.exists() and not is_being_written(folder, LOADING):
        path.unlink(missing_ok=True)
