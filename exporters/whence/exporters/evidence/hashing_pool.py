"""A pool of processes that hash the events of a pack while this process does other work.

Each value is too short for threads to run in parallel.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import fields, replace
from itertools import accumulate, pairwise
from typing import Self

from whence.exporters.evidence import hashing
from whence.exporters.evidence.hashing import SIZE, Done, Work, top
from whence.exporters.evidence.merkle import BRANCH, Tree

__all__ = ["MANY", "HashingPool"]

MANY = 200_000
"""From this number of events on, several processes hash them."""


class HashingPool:
    """One process for each core; they are started only for large logs.

    >>> with HashingPool() as pool:
    ...     pool.busy
    False
    """

    def __init__(self, count: int | None = None, many: int = MANY) -> None:
        """Start nothing yet.

        Args:
            count: how many; ``None`` for as many as there are cores.
            many: number of events from which on they are started.
        """
        self._many = many
        self._workers = [_Worker() for _ in range(count or os.cpu_count() or 1)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        """End the processes, without waiting for pending work."""
        for worker in self._workers:
            worker.end()

    @property
    def busy(self) -> bool:
        """Whether a process was started."""
        return any(worker.started for worker in self._workers)

    def begin(self, work: Work, rows: Sequence[int]) -> Callable[[], Tree]:
        """Let some work be done; what is given waits for it, or does it if it is little.

        Args:
            work: a whole log or stream.
            rows: how many events each of its parts has.
        """
        workers = self._workers[: len(work.files)]
        if sum(rows) < self._many or len(workers) < 2:
            return lambda: _tree([work.done()])
        before = [0, *accumulate(rows)]
        cuts = [len(work.files) * n // len(workers) for n in range(len(workers) + 1)]
        shares = [
            worker.begin(replace(work, files=work.files[a:b], first=before[a]))
            for worker, (a, b) in zip(workers, pairwise(cuts), strict=True)
        ]
        return lambda: _tree([share.result() for share in shares])


class _Worker:
    """A process, and a thread that gives it one thing after another."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1)
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False

    @property
    def started(self) -> bool:
        return self._process is not None

    def begin(self, work: Work) -> Future[Done]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-P", hashing.__file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for us, who end it
            )
        return self._thread.submit(self._elsewhere, self._process, work)

    def _elsewhere(self, process: subprocess.Popen[bytes], work: Work) -> Done:
        """Have it done by the process; if that fails, here."""
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            pickle.dump(
                {each.name: getattr(work, each.name) for each in fields(work)}, process.stdin
            )
            process.stdin.flush()
            return Done(*pickle.load(process.stdout))
        except (OSError, EOFError, pickle.UnpicklingError):
            if self._ended:
                raise
            return work.done()

    def end(self) -> None:
        self._ended = True
        self._thread.shutdown(wait=False, cancel_futures=True)
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._thread.shutdown()
        if self._process is not None:
            for pipe in (self._process.stdin, self._process.stdout):
                with suppress(OSError):  # what was not handed over is lost
                    if pipe is not None:
                        pipe.close()


def _tree(shares: Sequence[Done]) -> Tree:
    """The tree over the leaves of all; branches that two of them share are worked out here."""
    leaves = b"".join(share.leaves for share in shares)
    known: dict[int, bytes] = {}
    before = 0
    for share in shares:
        first = Tree.branches(before)
        for at in range(0, len(share.tops), SIZE):
            known[first + at // SIZE] = share.tops[at : at + SIZE]
        before += len(share.leaves) // SIZE
    wide = BRANCH * SIZE
    tops = (
        known.get(number) or top(leaves[number * wide : (number + 1) * wide])
        for number in range(Tree.branches(before))
    )
    return Tree(leaves, b"".join(tops))
