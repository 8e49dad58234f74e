"""How long to wait for a server: seconds, but fair ones on a machine that is busy.

A server needs about 15 seconds of processor time to start. On a machine where others take most of
the processor that is minutes by the clock, and giving up would only waste what was done. So when
the time is over, a server that still works and has had little of the processor gets more of it.
One that hangs works on nothing, one that runs in circles has had plenty: both are given up in time.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import psutil

__all__ = ["ProcessTimeout"]

_MOST = 4
"""The longest wait, in multiples of the time asked for."""


class ProcessTimeout:
    """Watches one process from now on.

    Args:
        pid: the process.
        seconds: how long to wait for it, unless it had little of the processor.
        clock: says how late it is, in seconds.
    """

    def __init__(
        self, pid: int, seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Begin to wait."""
        self._pid = pid
        self._seconds = seconds
        self._clock = clock
        self._began = self._worked_at = clock()
        self._work = 0.0

    def is_over(self) -> bool:
        """Say whether waiting makes no sense any more; to be asked again and again."""
        now = self._clock()
        work = self._processor_seconds()
        if work > self._work + 0.05:
            self._work, self._worked_at = work, now
        waited = now - self._began
        if waited < self._seconds:
            return False
        idle = now - self._worked_at > 2
        had_plenty = work > self._seconds / 2
        return idle or had_plenty or waited > _MOST * self._seconds

    def _processor_seconds(self) -> float:
        try:
            times = psutil.Process(self._pid).cpu_times()
        except psutil.Error:
            return 0.0
        return float(times.user + times.system)
