"""Memory does not grow with the run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.exporters._support.recorded_runs import payments, recorded
from whence.engine import Chain, Slice, field
from whence.engine.palettes.fsm import MooreMachine

MEASURE = """
import re, sys
from pathlib import Path
from whence.exporters import save_run
save_run(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
# Not ru_maxrss, which a process inherits from the one that started it.
print(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])
"""


def peak(root: Path, run: str, path: Path) -> int:
    """Peak memory of a process that does nothing but export, in kilobytes."""
    arguments = [sys.executable, "-c", MEASURE, str(root), run, str(path)]
    done = subprocess.run(arguments, check=True, capture_output=True, text=True)
    return int(done.stdout)


@pytest.mark.full
@pytest.mark.parametrize("file", ["a.json", "a.nq", "a.trig", "a.nq.gz", "a.provn", "a.xml"])
def test_ten_times_the_events_take_the_same_memory(file: str, runs: tuple[Path, str, str]) -> None:
    root, small, large = runs
    first, second = peak(root, small, root / file), peak(root, large, root / file)
    assert second <= first * 1.2, (first, second)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """The same lifecycle over 10^4 and over 10^5 events, of as many cases."""
    root = tmp_path_factory.mktemp("record")
    machine = MooreMachine(
        "order",
        initial="idle",
        states={"idle": True, "busy": True},
        transitions=[("idle", "action = 'create'", "busy"), ("busy", "action = 'pay'", "idle")],
        otherwise={"idle": "idle", "busy": "busy"},
    )
    chain = Chain.of(Slice("per-case", by=field.case, of=machine, combine="and"))
    small, large = (
        recorded(root, chain, {"log": payments(200, events)}).id for events in (10**4, 10**5)
    )
    return root, small, large
