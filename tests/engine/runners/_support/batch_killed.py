"""Run a chain and be killed on the way: ``python -m ... ROOT NAME N...``.

A moment is the n-th time that a file is put in its place, every other time just before.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.engine.runners._support.stopped_runs import run


def _die_at(moment: int) -> None:
    place = Path.replace
    seen = 0

    def replace(self: Path, target: Any) -> Path:
        nonlocal seen
        ours = "runs" in self.parts
        seen += ours
        if ours and seen == moment and moment % 2:
            os.kill(os.getpid(), signal.SIGKILL)
        found = place(self, target)
        if ours and seen == moment:
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    setattr(Path, "replace", replace)  # noqa: B010  it is put in its place


def main(root: Path, name: str, moments: list[int]) -> None:
    """For each moment a process of its own; say how each ended."""
    with suppress(ImportError):
        import numba  # noqa: F401  once for all of them
    for moment in moments:
        child = os.fork()
        if child == 0:
            _die_at(moment)
            run(root / str(moment), name)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        print(moment, "killed" if killed else "ended", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], [int(n) for n in sys.argv[3:]])
