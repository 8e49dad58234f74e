from __future__ import annotations

import subprocess
import sys
import time

import pytest

from whence.store.server.patience import Patience

WORKING = "while True: pass"
HANGING = "import time; time.sleep(60)"


@pytest.mark.parametrize("program", [WORKING, HANGING], ids=["runs in circles", "hangs"])
def test_patience_ends_when_the_time_is_over(program: str) -> None:
    with subprocess.Popen([sys.executable, "-c", program]) as process:
        try:
            began = time.monotonic()
            patience = Patience(process.pid, 3)
            assert not patience.is_over()
            while not patience.is_over():
                time.sleep(0.1)
            assert 3 <= time.monotonic() - began < 30
        finally:
            process.kill()


def test_a_process_that_had_little_of_the_processor_gets_more_time() -> None:
    little = "import time\nwhile True:\n    sum(range(3_000_000)); time.sleep(0.5)"
    with subprocess.Popen([sys.executable, "-c", little]) as process:
        try:
            patience = Patience(process.pid, 2)
            for _ in range(25):
                assert not patience.is_over()
                time.sleep(0.1)
        finally:
            process.kill()
