"""Find the run that the same command goes on with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from whence.engine.record.runs import RunRecord
from whence.engine.record.writing import LOCK, is_left

__all__ = ["interrupted_run"]


def interrupted_run(root: Path, described: Mapping[str, Any]) -> str | None:
    """The latest run that was interrupted and is described so; the same command goes on with it.

    Args:
        root: the record's place.
        described: what the manifest has to say.
    """
    locks = (root / "runs").glob(f"*/{LOCK}")  # runs that ended by themselves have none
    for id in sorted((path.parent.name for path in locks), reverse=True):
        if not (root / "runs" / id / "manifest.json").exists():
            continue
        run = RunRecord(root, id)
        manifest = run.manifest
        if not all(manifest.get(name) == value for name, value in described.items()):
            continue
        if manifest["status"] == "running" and is_left(run.folder):
            manifest = run.manifest  # it was killed a moment ago
        if manifest["status"] == "interrupted":
            return id
    return None
