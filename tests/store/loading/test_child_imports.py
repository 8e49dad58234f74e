"""The process that loads a run beside it runs nothing out of the folder that it is started in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.store.loading._support.loaded_beside import loaded_beside
from whence.store import Secret, Settings


def test_the_loader_imports_nothing_out_of_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("json", "neo4j", "threading"):
        (tmp_path / f"{name}.py").write_text("open('caught', 'a').close()\n")
    monkeypatch.chdir(tmp_path)
    nowhere = Settings("bolt://127.0.0.1:1", "neo4j", Secret.of("none"))
    _, loading = loaded_beside(tmp_path / "record", nowhere)
    assert "127.0.0.1:1" in str(loading.error)  # so far it came by itself
    assert not (tmp_path / "caught").exists()
