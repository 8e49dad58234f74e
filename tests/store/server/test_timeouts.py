"""Real processes, and a clock that stands still until the test moves it."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psutil

from whence.store.server.timeouts import ProcessTimeout

WORKING = "while True: pass"
HANGING = "import time; time.sleep(600)"


class Clock:
    """Says what it was told."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@contextmanager
def running(program: str) -> Iterator[int]:
    with subprocess.Popen([sys.executable, "-c", program]) as process:
        try:
            yield process.pid
        finally:
            process.kill()


def wait_until(holds: Callable[[], bool]) -> None:
    while not holds():
        time.sleep(0.02)


def worked(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def test_one_that_hangs_is_given_up_when_the_time_is_over() -> None:
    clock = Clock()
    with running(HANGING) as pid:
        wait_until(lambda: psutil.Process(pid).status() == psutil.STATUS_SLEEPING)
        patience = ProcessTimeout(pid, 60, clock)
        for clock.now in (100, 130, 159.9):
            assert not patience.is_over()
        clock.now = 160
        assert patience.is_over()


def test_one_that_runs_in_circles_is_given_up_when_the_time_is_over() -> None:
    clock = Clock()
    with running(WORKING) as pid:
        patience = ProcessTimeout(pid, 1, clock)
        wait_until(lambda: worked(pid) > 0.6)
        clock.now = 100.9
        assert not patience.is_over()
        clock.now = 101
        assert patience.is_over()


def test_one_that_works_but_had_little_of_the_processor_gets_more_time() -> None:
    clock = Clock()
    with running(WORKING) as pid:
        patience = ProcessTimeout(pid, 600, clock)
        for clock.now in (690, 700, 1300, 2499):
            before = worked(pid)
            wait_until(lambda before=before: worked(pid) > before + 0.1)  # type: ignore[misc]
            assert not patience.is_over()
        clock.now = 2501
        assert patience.is_over(), "four times as long is enough for anybody"
