"""Recheck a pack in a process of its own, which ends in any case: ``python -m … PACK.zip``.

What a pack holds decides how much work it is to make its report again and to run its chain. So
this process may take only so long and so much memory; a pack that wants more is refused.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

from whence.exporters.evidence.rechecking import FAILS, State, recheck
from whence.exporters.evidence.verify import read_pack

__all__ = ["recheck_alone"]

SECONDS = 180
MEMORY = 6 << 30
"""Of addresses, of which much less is ever used: libraries reserve some."""


def recheck_alone(path: Path) -> list[State]:
    """The findings of `recheck` on a pack whose digests were verified."""
    command = [sys.executable, "-P", "-m", __name__, str(path.absolute()), str(SECONDS)]
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=2 * SECONDS, check=False, start_new_session=True
        )
        states: list[list[str]] = json.loads(done.stdout) if done.returncode == 0 else []
    except subprocess.TimeoutExpired:
        states = []
    except ValueError:
        states = []
    if not states:
        words = f"derived: not done within {SECONDS} seconds and {MEMORY >> 30} GB"
        return [(FAILS, words)]
    return [(state, words) for state, words in states]


def main() -> None:
    """Recheck the pack that is named, and print what was found."""
    path, seconds = Path(sys.argv[1]), int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    try:
        files, _ = read_pack(path)
        states = recheck(files)
    except Exception as error:  # any failure means that there is no proof
        states = [(FAILS, f"derived: it cannot be rebuilt: {type(error).__name__}: {error}")]
    json.dump(states, sys.stdout)


if __name__ == "__main__":
    main()
