"""Surroundings that the tests simulate: no network, no Java, an empty home, a fresh clone."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["ROOT", "bare_environment", "clone", "offline", "path_without_java", "run", "tracked"]

ROOT = Path(__file__).resolve().parents[2]

# A new network namespace has a loopback device that is down; servers under test need it up. Said to
# the kernel directly (SIOCSIFFLAGS: up, loopback, running), because not every system has `ip`.
LOOPBACK_UP = """
import fcntl, os, socket, struct, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
    fcntl.ioctl(any_socket, 0x8914, struct.pack("16sH22x", b"lo", 0x1 | 0x8 | 0x40))
os.execvp(sys.argv[1], sys.argv[1:])
"""


def run(
    command: list[str],
    *,
    cwd: Path = ROOT,
    env: dict[str, str] | None = None,
    timeout: float = 900,
) -> subprocess.CompletedProcess[str]:
    """Run a command, keep what it prints, leave the judgement to the test.

    The time allowed is for what hangs: on a busy machine all takes a multiple of its time.
    """
    return subprocess.run(
        command, cwd=cwd, env=env, capture_output=True, text=True, timeout=timeout, check=False
    )


@functools.cache
def offline() -> tuple[str, ...]:
    """The words before a command that leave it no network but loopback.

    A network namespace of its own where the system allows that; else proxies that lead nowhere.
    """
    unshare = ("unshare", "--map-root-user", "--net")
    own_namespace = (*unshare, sys.executable, "-c", LOOPBACK_UP)
    if shutil.which("unshare") and run([*own_namespace, "true"]).returncode == 0:
        return own_namespace
    nowhere = "http://127.0.0.1:9"
    return ("env", *(f"{name}={nowhere}" for name in ("http_proxy", "https_proxy", "all_proxy")))


def tracked(*patterns: str) -> list[Path]:
    """The files under version control that are there, as paths relative to the root."""
    done = run(["git", "ls-files", "-z", "--", *patterns])
    assert done.returncode == 0, done.stderr
    files = [Path(name) for name in done.stdout.split("\0") if name]
    return [file for file in files if (ROOT / file).is_file()]


def path_without_java(folder: Path) -> str:
    """A PATH with everything the system's own folders hold, except Java."""
    folder.mkdir()
    for place in ("/usr/local/bin", "/usr/bin", "/bin"):
        for tool in Path(place).iterdir() if Path(place).is_dir() else ():
            link = folder / tool.name
            if tool.name != "java" and not link.is_symlink():
                link.symlink_to(tool)
    # The interpreter of this test run, whatever the system's own python3 is.
    interpreter = Path(sys.base_prefix) / "bin" / "python3"
    (folder / "python3").unlink(missing_ok=True)
    (folder / "python3").symlink_to(interpreter)
    assert shutil.which("java", path=str(folder)) is None
    return str(folder)


def clone(target: Path) -> Path:
    """What a stranger has after git clone: committed files only."""
    done = run(["git", "clone", "--quiet", str(ROOT), str(target)])
    assert done.returncode == 0, done.stderr
    return target


def bare_environment(home: Path, path: str) -> dict[str, str]:
    """An environment with an empty home; certificates and package settings stay as they are."""
    home.mkdir(exist_ok=True)
    dropped = ("VIRTUAL_ENV", "PYTHONPATH", "MAKEFLAGS", "MFLAGS", "MAKELEVEL")
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in dropped and not name.startswith(("WHENCE_", "NEO4J_", "JAVA_", "XDG_"))
    }
    return {**kept, "HOME": str(home), "PATH": path}
