"""The memory of one batch serves the next."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

_FAULTS = """
import resource
import numpy as np
from whence.engine.kernels.memory import keep_memory

def batch():
    held = [np.ones(2**16) for _ in range(8)]
    return len(held)

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        batch()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

left = faults()
assert keep_memory()
batch()
print(left, faults())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only said to the GNU C library")
def test_batches_after_the_first_ask_the_system_for_no_pages() -> None:
    told = subprocess.run(
        [sys.executable, "-c", _FAULTS], capture_output=True, text=True, check=True
    )
    left, kept = map(int, told.stdout.split())
    if not left:
        pytest.skip("this system does not count page faults")
    assert kept < left / 10
