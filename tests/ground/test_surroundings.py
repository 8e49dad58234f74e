"""The simulated surroundings are what they claim to be."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from tests.ground.surroundings import bare_environment, offline, path_without_java, run

# An address of the block that is set aside for documentation: no machine has it.
ELSEWHERE = "import socket; socket.create_connection(('192.0.2.1', 443), timeout=5)"
HERE = """
import socket
server = socket.create_server(("127.0.0.1", 0))
socket.create_connection(server.getsockname(), timeout=5)
"""


def test_offline_means_loopback_and_nothing_else() -> None:
    assert run([*offline(), sys.executable, "-c", HERE]).returncode == 0
    if offline()[0] == "unshare":
        done = run([*offline(), sys.executable, "-c", ELSEWHERE])
        assert "Network is unreachable" in done.stderr


def test_a_path_without_java_has_everything_else(tmp_path: Path) -> None:
    path = path_without_java(tmp_path / "bin")
    assert shutil.which("java", path=path) is None
    assert all(shutil.which(tool, path=path) for tool in ("sh", "make", "git", "python3", "awk"))


def test_a_bare_environment_knows_nothing_of_the_user(tmp_path: Path) -> None:
    environment = bare_environment(tmp_path / "home", "/usr/bin")
    assert environment["HOME"] == str(tmp_path / "home")
    assert list((tmp_path / "home").iterdir()) == []
    assert [n for n in environment if n.startswith(("WHENCE_", "NEO4J_", "JAVA_"))] == []
