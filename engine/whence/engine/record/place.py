"""Where records are kept."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_data_path

__all__ = ["record_place"]


def record_place(given: str | Path | None = None) -> Path:
    """The folder of the record: as given, ``WHENCE_RECORD``, or in the user's data folder."""
    if given is not None:
        return Path(given)
    if os.environ.get("WHENCE_RECORD"):
        return Path(os.environ["WHENCE_RECORD"])
    home = os.environ.get("WHENCE_HOME")
    return (Path(home) if home else user_data_path("whence", appauthor=False)) / "record"
