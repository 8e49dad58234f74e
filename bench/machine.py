"""On what machine, and with which versions, something was measured."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil

from whence.engine.errors import ServerError
from whence.engine.java import find_java

__all__ = ["commit", "machine", "versions"]

ROOT = Path(__file__).parent.parent
WRITTEN = ("bench/baseline", "docs/explanation/evaluation*", "experiments/results")
"""What measuring writes: a second sitting measures the same commit as the first."""
PACKAGES = ("whence", "pyspark", "pyarrow", "numpy", "pandas", "neo4j", "neo4j-rust-ext", "prov")


def machine() -> dict[str, str | int | float]:
    """Describe the machine by what makes a difference; nothing that names its owner."""
    return {
        "system": f"{platform.system()} {platform.release()}",
        "processor": _processor(),
        "architecture": platform.machine(),
        "cores": os.cpu_count() or 1,
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "load_at_start": round(os.getloadavg()[0], 2),
    }


def versions() -> dict[str, str]:
    """Name what was measured: interpreter, Java, packages, commit."""
    found = {"python": platform.python_version(), "java": _java(), "commit": commit()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _java() -> str:
    try:
        java = find_java()
    except ServerError:
        return "none"
    return f"{java.version} ({java.source})"


def commit(root: Path = ROOT) -> str:
    """The commit, and whether something that is measured differs from it."""
    try:
        name = _git(root, "describe", "--always", "--abbrev=12")
        kept = [f":(exclude){path}" for path in WRITTEN]
        changed = _git(root, "status", "--porcelain", "--untracked-files=no", "--", ".", *kept)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{name}-dirty" if changed else name


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.strip()
