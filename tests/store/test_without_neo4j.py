"""Without the driver the store imports, and says which extra is missing before doing any work."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BLOCKED = "import sys\nsys.modules['neo4j'] = None\n"


def without_driver(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BLOCKED + code],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("name", ["whence.store", "whence.store.server", "whence.store.questions"])
def test_it_imports(name: str, tmp_path: Path) -> None:
    done = without_driver(f"import {name}", tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "command", [["demo"], ["server", "start"], ["demo", "--uri", "bolt://127.0.0.1:1"]]
)
def test_the_missing_extra_is_named(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "password").write_text("x")
    (tmp_path / "whence.toml").write_text("")
    more = ["--password-file", "password"] if "--uri" in command else []
    code = f"sys.argv = {['whence', *command, *more]!r}\nfrom whence.cli import main\nmain()"
    done = without_driver(code, tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "whence: expected the package 'neo4j'; it is not installed; "
        "try: pip install 'whence[neo4j]'"
    )
