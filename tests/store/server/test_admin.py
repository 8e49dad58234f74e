"""Neo4j's own admin tool, where it ends without a word."""

from __future__ import annotations

from pathlib import Path

import pytest

from whence.engine.errors import ServerError
from whence.engine.java import Java
from whence.store.server.instance import run_admin


@pytest.mark.parametrize(("script", "said"), [("kill -9 $$", "-9"), ("exit 3", "3")])
def test_a_tool_that_ends_without_a_word_is_told_by_its_exit_code(
    script: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "home" / "run").mkdir(parents=True)
    program = tmp_path / "jdk" / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o700)
    java = Java(tmp_path / "jdk", "17.0.1", "PATH")
    with pytest.raises(ServerError) as refused:
        run_admin(tmp_path / "home", java, tmp_path, "version", doing="import the files")
    assert str(refused.value) == (
        f"expected Neo4j to import the files; got: nothing, and exit code {said}; try again"
    )
