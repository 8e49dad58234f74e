"""Remove a run from the record; its logs stay, since other runs may read them."""

from __future__ import annotations

from pathlib import Path

from whence.engine.errors import LogError
from whence.engine.record.erasing import check_not_held
from whence.engine.record.files import remove_tree
from whence.engine.record.folders import check_own_folder
from whence.engine.record.listing import list_runs
from whence.engine.record.manifest import MANIFEST
from whence.engine.record.runs import RunRecord

__all__ = ["check_removable", "readers_of", "remove_run"]


def readers_of(root: Path, run: str) -> list[str]:
    """The runs of a record that read a stream of this run."""
    found = []
    for id in list_runs(root):
        other = RunRecord(root, id)
        makers = (other.log(name).made_by for name in other.manifest.logs)
        if any(made_by is not None and made_by[0] == run for made_by in makers):
            found.append(id)
    return found


def check_removable(run: RunRecord) -> None:
    """Refuse a run that goes on, or that another run needs.

    Raises:
        LogError: it is held or running, another run read one of its streams, or its folder is only
            a link.
    """
    check_own_folder(run.folder)
    check_not_held(run.root, [run.id], "remove")
    if run.manifest.is_running:
        msg = f"run {run.id}: expected one that is over; got one that is running; try later"
        raise LogError(msg)
    readers = readers_of(run.root, run.id)
    if readers:
        msg = (
            f"run {run.id}: expected no other run that read its streams; got {', '.join(readers)}; "
            "try removing that one first"
        )
        raise LogError(msg)


def remove_run(run: RunRecord) -> None:
    """Delete a run; what no manifest lists does not exist, so that there is no half of one."""
    check_own_folder(run.folder)
    (run.folder / MANIFEST).unlink()
    remove_tree(run.folder, strict=True)
