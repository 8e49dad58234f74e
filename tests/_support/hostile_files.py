"""Files that were made to take hours, read in a process that is ended if it takes too long."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

__all__ = ["SIZE", "assert_read_in_time"]

SIZE = 2 << 20
"""Bytes of each file."""
LONGEST = 240
"""Seconds, more than any machine needs; what grows with the square of a file needs hours."""


def assert_read_in_time(program: str, files: Mapping[str, tuple[str, str]], folder: Path) -> None:
    """Let a program read all files; of each it says in one short line what was expected.

    Args:
        program: what is run; ``sys.argv`` holds the files, and it prints a line of each.
        files: by name the text, and what is to be said of it.
        folder: where they are written.
    """
    for name, (text, _) in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", program, *(str(folder / name) for name in files)],
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=True,
    )
    lines = done.stdout.splitlines()
    for line, (name, (_, said)) in zip(lines, files.items(), strict=True):
        assert line.startswith(f"{name}: ")
        assert said in line
        assert len(line) < 500
