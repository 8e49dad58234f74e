"""Records that earlier versions wrote; see samples/README.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

__all__ = ["NAMES", "answers", "unpacked"]

_FOLDER = Path(__file__).with_name("samples")

NAMES = tuple(sorted(path.stem for path in _FOLDER.glob("*.zip")))


def unpacked(name: str, place: Path) -> Path:
    """A copy of a sample record."""
    with ZipFile(_FOLDER / f"{name}.zip") as archive:
        archive.extractall(place / name)
    return place / name


def answers() -> dict[str, Any]:
    """What the version before answered, by record and run."""
    found: dict[str, Any] = json.loads((_FOLDER / "answers.json").read_text(encoding="utf-8"))
    return found
