"""Which folders' settings files the user trusts: by place and SHA-256, so that a change ends it."""

from __future__ import annotations

import json
from pathlib import Path

from whence.engine.errors import SettingsError

__all__ = ["is_trusted", "revoke", "trust", "trusted_files"]

_WAIT = 10.0


def trusted_files() -> dict[Path, str]:
    """The trusted files with their digests, as they were when they were trusted."""
    place = _place()
    try:
        found = json.loads(place.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "something else"
        msg = f"expected a list of trusted files in {place}; got {reason}; try removing it"
        raise SettingsError(msg) from error
    if not isinstance(found, dict) or not all(isinstance(d, str) for d in found.values()):
        msg = f"expected a list of trusted files in {place}; got something else; try removing it"
        raise SettingsError(msg)
    return {Path(path): digest for path, digest in found.items()}


def is_trusted(path: Path, digest: str) -> bool:
    """Whether the file at this place was trusted with these bytes."""
    return trusted_files().get(_key(path)) == digest


def trust(path: Path, digest: str) -> None:
    """Trust a file as long as it has these bytes."""
    _change(_key(path), digest)


def revoke(path: Path) -> bool:
    """Trust a file no longer; say whether it was trusted."""
    return _change(_key(path), None)


def _place() -> Path:
    # Late, since servers read the settings with these modules.
    from whence.store.server.folders import whence_home

    return whence_home() / "trusted.json"


def _key(path: Path) -> Path:
    """The same file by whatever link its folder was reached."""
    return path.parent.resolve() / path.name


def _change(key: Path, digest: str | None) -> bool:
    from whence.store.server.folders import disk_trouble, locked, write_private

    with locked("trusted", _WAIT), disk_trouble("trust", _place().parent):
        files = trusted_files()
        before = files.pop(key, None)
        if digest is not None:
            files[key] = digest
        listed = {str(path): files[path] for path in sorted(files)}
        write_private(_place(), json.dumps(listed, indent=2) + "\n")
    return before is not None
