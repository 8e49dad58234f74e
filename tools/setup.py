"""Set the project up: virtual environment, pinned packages, Java. Run it with ``make setup``.

Standard library only. Every step looks first and works only if something is missing, so that a
second run is quick and needs no network. The stamp is removed before anything is changed and
written when everything stands: a set-up that broke off is never taken as done.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "whence-setup.json"
BOOTSTRAP = ROOT / "requirements-bootstrap.txt"
PACKAGES = ROOT / "requirements.txt"
JAVA = ROOT / "requirements-java.txt"

NO_JAVA = 3
FIND_JAVA = f"""
import sys
from whence.engine.errors import ServerError
from whence.engine.java import find_java
try:
    java = find_java()
except ServerError as error:
    print(error)
    sys.exit({NO_JAVA})
print(f"Java {{java.version}} from {{java.source}} ({{java.home}})")
"""


class SetupError(Exception):
    """A step that failed; the message is one line: expected; got; try."""


def main() -> int:
    """Do what is missing; say what was done."""
    started = time.monotonic()
    lock = os.open(ROOT, os.O_RDONLY)
    try:
        _take(lock)
        version = _environment()
        _packages(version)
        _java()
    except SetupError as error:
        print(f"setup: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("setup: interrupted; run make setup again, it goes on from here", file=sys.stderr)
        return 130
    finally:
        os.close(lock)
    _say("ready", f"{time.monotonic() - started:.1f} s")
    return 0


def _say(step: str, what: str) -> None:
    print(f"setup: {step:<12} {what}", flush=True)


def _take(lock: int) -> None:
    """Let one set-up of this clone work at a time; a second one waits and then finds it done."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        _say("waiting", "another set-up of this folder is running")
        fcntl.flock(lock, fcntl.LOCK_EX)


def _environment() -> str:
    """Make ``.venv`` unless it stands; return its Python's version."""
    version = _venv_version()
    if version is None:
        _say("environment", f"making .venv with Python {sys.version.split()[0]}")
        _run([sys.executable, "-m", "venv", "--clear", str(VENV)], "a virtual environment in .venv")
        version = _venv_version()
        if version is None:
            msg = (
                "expected pip in the new .venv; got none; "
                "try installing your system's venv package, then make setup"
            )
            raise SetupError(msg)
    _say("environment", f".venv, Python {version}")
    return version


def _venv_version() -> str | None:
    """Ask the environment's Python; None if it is missing, too old, broken or without pip."""
    question = (
        "import sys, pip; print(sys.version.split()[0]); sys.exit(sys.version_info < (3, 11))"
    )
    try:
        done = subprocess.run([PYTHON, "-c", question], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def _packages(version: str) -> None:
    wanted = {"digest": _digest(), "python": version, "root": str(ROOT)}
    if _stamp() == wanted:
        _say("packages", "as pinned")
        return
    STAMP.unlink(missing_ok=True)
    _say("packages", "installing (the first time some minutes, about 700 MB)")
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run([*pip, "--require-hashes", "-r", str(BOOTSTRAP)], f"pip to install {BOOTSTRAP.name}")
    _install(PACKAGES)
    # No index is asked: the build backend is among the pinned packages.
    _run([*pip, "--no-deps", "--no-build-isolation", "--no-index", "-e", str(ROOT)], "the project")
    _write_stamp(wanted)
    _say("packages", "as pinned")


def _install(requirements: Path) -> None:
    """Install pinned packages with uv, three times as fast; with pip where uv cannot.

    uv does not read pip's configuration, so behind a company's mirror it may reach nothing.
    """
    # A log file is not for names of packages one by one; errors are still printed.
    quiet = [] if sys.stderr.isatty() else ["--quiet"]
    hashed = ["--require-hashes", "--no-build-isolation"]
    arguments = ["install", *quiet, *hashed, "-r", str(requirements)]
    uv = [str(VENV / "bin" / "uv"), "pip", *arguments, "--python", str(PYTHON)]
    if _tried(uv) != 0:
        _say("packages", "uv could not, trying pip")
        pip = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", *arguments]
        _run(pip, f"pip to install {requirements.name}")


def _java() -> None:
    """Find Java 17 or 21, or bring one along."""
    code, answer = _find_java()
    if code == NO_JAVA:
        _say("java", "no Java 17 or 21 here, installing one into .venv")
        _install(JAVA)
        code, answer = _find_java()
    if code != 0:
        raise SetupError(answer)
    _say("java", answer)


def _find_java() -> tuple[int, str]:
    done = subprocess.run([PYTHON, "-c", FIND_JAVA], capture_output=True, text=True, cwd=ROOT)
    lines = (done.stdout + done.stderr).strip().splitlines()
    return done.returncode, lines[-1] if lines else "expected an answer about Java; got none"


def _digest() -> str:
    digest = hashlib.sha256()
    for path in (BOOTSTRAP, PACKAGES, ROOT / "pyproject.toml"):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _stamp() -> object:
    try:
        return json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _write_stamp(content: dict[str, str]) -> None:
    fresh = STAMP.with_suffix(".part")
    fresh.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    fresh.replace(STAMP)


def _run(command: list[str], expected: str) -> None:
    code = _tried(command)
    if code != 0:
        msg = (
            f"expected {expected}; got exit code {code} (its own words are above); "
            "try again when network and disk space are there: make setup goes on from here"
        )
        raise SetupError(msg)


def _tried(command: list[str]) -> int:
    try:
        return subprocess.run(command, check=False).returncode
    except OSError:
        return 127


if __name__ == "__main__":
    sys.exit(main())
