"""Which runs a record holds, and which of them is the newest."""

from __future__ import annotations

import re
import secrets
from datetime import UTC, datetime
from pathlib import Path

from whence.engine.errors import LogError
from whence.engine.record.folders import is_id, run_folder
from whence.engine.record.journal import read_manifest
from whence.engine.record.manifest import MANIFEST

__all__ = ["latest_run", "list_runs", "new_run_id"]

_DATED = re.compile(r"(\d{8}-\d{6})-[0-9a-f]{6}")


def new_run_id() -> str:
    """A run's id: when it began, and something that no other run has."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


def list_runs(root: Path) -> list[str]:
    """The runs of a record, the latest last."""
    found = (path.parent.name for path in (root / "runs").glob(f"*/{MANIFEST}"))
    return sorted(id for id in found if is_id(id))


def latest_run(root: Path) -> str | None:
    """The run that ``latest`` means: of those made here, the one that began last.

    An id says when its run began, to the second. The manifests decide between runs of the same
    second, and where an id was chosen by hand. An imported run says of itself when it began, so
    ``latest`` never means one.
    """
    known = list_runs(root)
    stamps = {id: found[1] for id in known if (found := _DATED.fullmatch(id))}
    for second in sorted(set(stamps.values()), reverse=True) or [""]:
        among = [id for id in known if stamps.get(id, second) == second]
        if made_here := [(began, id) for id in among if (began := _began(root, id)) is not None]:
            return max(made_here)[1]
    return None


def _began(root: Path, id: str) -> str | None:
    """When a run that was made here began; empty if its manifest cannot be read."""
    try:
        manifest = read_manifest(run_folder(root, id))
    except FileNotFoundError:
        return None  # removed a moment ago
    except (OSError, LogError):
        return ""
    return None if manifest.imported else manifest.started
