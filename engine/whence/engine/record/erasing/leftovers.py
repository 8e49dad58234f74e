"""Remove partial files left by killed processes; they may contain values."""

from __future__ import annotations

from pathlib import Path

from whence.engine.record.files import remove_tree
from whence.engine.record.writing import is_being_written

__all__ = ["remove_leftovers"]


def remove_leftovers(root: Path) -> int:
    """Remove files and folders that were not given their names; say how many.

    What a living process is writing is left alone.
    """
    removed = 0
    for path in sorted(root.glob("logs/.*.part")):
        if not is_being_written(path):
            remove_tree(path)
            removed += 1
    runs = [run for run in root.glob("runs/*") if not is_being_written(run)]
    for path in [found for folder in (*runs, *root.glob("logs/*")) for found in folder.rglob(".*")]:
        if path.name.endswith(".part") and path.is_file():
            path.unlink()
            removed += 1
    return removed
