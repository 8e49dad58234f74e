from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from whence.engine.errors import ParameterError
from whence.store.server import Memory
from whence.store.server.memory import _cgroup_limits, memory_limit


def test_the_limit_is_never_more_than_the_machine_has() -> None:
    assert 0 < memory_limit() <= psutil.virtual_memory().total


@pytest.mark.parametrize(
    ("line", "file"),
    [
        ("0::/box/inner", "box/memory.max"),
        ("0::/box/inner", "box/inner/memory.max"),
        ("7:cpu,memory:/box", "memory/box/memory.limit_in_bytes"),
    ],
)
def test_the_limit_of_a_container_counts(tmp_path: Path, line: str, file: str) -> None:
    own = tmp_path / "own"
    own.write_text(line + "\n")
    root = tmp_path / "cgroup"
    limit = root / file
    limit.parent.mkdir(parents=True)
    limit.write_text("1073741824\n")
    assert _cgroup_limits(own, root) == [1073741824]
    limit.write_text("max\n")
    assert _cgroup_limits(own, root) == []


def test_the_server_never_takes_more_than_a_third_of_a_small_machine() -> None:
    for gigabytes in (2, 4, 8, 24, 256):
        total = gigabytes * 1024
        share = Memory.for_machine(total * 1024 * 1024)
        assert share.heap + share.page_cache <= total * 0.34
        assert share.heap >= 512


def test_too_little_memory_is_refused() -> None:
    with pytest.raises(ParameterError, match="expected at least 400 megabytes"):
        Memory.of(100)
