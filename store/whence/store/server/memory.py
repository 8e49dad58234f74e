"""How much memory the local server may take on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import psutil

from whence.engine.errors import ParameterError

__all__ = ["Memory", "memory_limit"]

_MEGABYTE = 1024 * 1024


@dataclass(frozen=True)
class Memory:
    """Heap and page cache of the server, in megabytes."""

    heap: int
    page_cache: int

    @classmethod
    def for_machine(cls, total_bytes: int | None = None) -> Memory:
        """Take a sixth of the machine, half for each: Spark needs the rest.

        >>> Memory.for_machine(24 * 1024**3)
        Memory(heap=2048, page_cache=2048)
        >>> Memory.for_machine(2 * 1024**3)
        Memory(heap=512, page_cache=170)
        """
        share = (memory_limit() if total_bytes is None else total_bytes) // _MEGABYTE // 12
        return cls(heap=min(max(share, 512), 8192), page_cache=min(max(share, 64), 8192))

    @classmethod
    def of(cls, megabytes: int) -> Memory:
        """Split what the user allows: two thirds heap, one third page cache."""
        if megabytes < 400:
            msg = f"expected at least 400 megabytes for Neo4j; got {megabytes}; try 1024"
            raise ParameterError(msg)
        return cls(heap=megabytes * 2 // 3, page_cache=megabytes // 3)


def memory_limit() -> int:
    """Give the bytes this process may use: the machine's, or less inside a container."""
    total = int(psutil.virtual_memory().total)
    return min([total, *_cgroup_limits(Path("/proc/self/cgroup"), Path("/sys/fs/cgroup"))])


def _cgroup_limits(own: Path, root: Path) -> list[int]:
    """Read the limits of this control group and of those around it, versions 1 and 2."""
    try:
        lines = own.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    limits = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            base, name = root, "memory.max"
        elif "memory" in controllers.split(","):
            base, name = root / "memory", "memory.limit_in_bytes"
        else:
            continue
        folder = base / path.lstrip("/")
        for level in [folder, *folder.parents]:
            if not level.is_relative_to(base):
                break
            try:
                limits.append(int((level / name).read_text(encoding="utf-8")))
            except (OSError, ValueError):  # no such level here, or "max"
                continue
    return limits
