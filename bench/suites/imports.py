"""What it costs to start: bare Python, the engine imported, the command line answering."""

from __future__ import annotations

import subprocess
import sys

from bench import Bench

bench = Bench("What a start costs", rounds=9)


def _start(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)


@bench.variant("python")
def bare_python(_: None) -> None:
    """Start and end, nothing more."""
    _start("-c", "pass")


@bench.variant("engine")
def import_engine(_: None) -> None:
    """Import what every script imports."""
    _start("-c", "import whence.engine")


@bench.variant("version")
def print_version(_: None) -> None:
    """Answer the cheapest question on the command line."""
    _start("-m", "whence", "--version")


bench.ratio("engine.vs_python", "engine", "python")
bench.ratio("version.vs_python", "version", "python")
