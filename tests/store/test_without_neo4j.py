"""Without the driver the store imports, and says which extra is missing before doing any work."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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


def test_it_imports(tmp_path: Path) -> None:
    done = without_driver(
        "import whence.store, whence.store.server, whence.store.questions", tmp_path
    )
    assert done.returncode == 0, done.stderr


COMMANDS = (
    ["demo"],
    ["server", "start"],
    ["demo", "--uri", "bolt://127.0.0.1:1", "--password-file", "password"],
)
ONE_BY_ONE = """
from whence.cli import main
for command in {commands}:
    sys.argv = ["whence", *command]
    try:
        main()
    except SystemExit as ended:
        print(ended.code)
"""


def test_the_missing_extra_is_named(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("x")
    (tmp_path / "whence.toml").write_text("")
    done = without_driver(ONE_BY_ONE.format(commands=COMMANDS), tmp_path)
    assert done.stdout.split() == ["1", "1", "1"]
    said = (
        "whence: expected the package 'neo4j'; it is not installed; "
        "try: pip install 'whence[neo4j]'"
    )
    assert [line for line in done.stderr.splitlines() if line.startswith("whence:")] == [said] * 3
