"""The real logs beside the project, and what is known of them; tests skip where they are absent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from whence.engine.sources import open_source
from whence.engine.sources.source import Source

__all__ = ["LOGS", "NEEDED", "open_real", "real_log"]

LOGS = Path(__file__).parents[5] / "shared" / "logs"

NEEDED: dict[str, dict[str, Any]] = {
    "sepsis.csv": {"delimiter": ";"},
    "derived/bpic2013_latin1.csv": {"delimiter": ";", "encoding": "latin-1"},
    "apache_logs": {"format": "text", "pattern": "combined"},
    "ocel2-running-example.sqlite": {"object_type": "orders"},
}
"""What has to be said to read a log; of the others, nothing."""


def real_log(name: str) -> Path:
    """The path of a real log; skips the test where there is none."""
    path = LOGS / name
    if not path.exists():
        pytest.skip(f"needs the real log {name} in ../shared/logs, beside the project")
    return path


def open_real(name: str, **more: Any) -> Source:
    """Open a real log."""
    return open_source(real_log(name), **{**NEEDED.get(name, {}), **more})
