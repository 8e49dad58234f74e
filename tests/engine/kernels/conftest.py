"""Kernels are tested as they run on large logs, though the logs here are small."""

from __future__ import annotations

import pytest

from whence.engine.values import jit


@pytest.fixture(autouse=True)
def _compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile every loop at its first call."""
    monkeypatch.setattr(jit, "FEW", 0)
