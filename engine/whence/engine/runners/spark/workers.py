"""Whether the workers of a cluster can run what is sent to them; one line if they cannot."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from whence.engine.errors import RunnerError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["NEEDED", "check_workers"]

NEEDED = ("numpy", "pyarrow", "pandas", "lark", "yaml", "platformdirs", "psutil")
"""What the package imports on a worker; Numba only makes it faster."""

MOST = 64
"""Maximum number of tasks that look around; Spark decides where they run."""


def check_workers(session: SparkSession, modules: Sequence[str]) -> None:
    """Look around on the workers before anything runs there.

    Args:
        session: where.
        modules: what must be importable, besides Whence itself.

    Raises:
        RunnerError: another Python, or something is missing.
    """
    try:
        context = session.sparkContext
    except Exception:  # Spark Connect reports only the error
        return
    tasks = max(1, min(MOST, context.defaultParallelism))
    look = _look(tuple(modules))
    try:
        told = context.parallelize(range(tasks), tasks).mapPartitions(look).collect()
    except Exception as fault:
        raise _no_python(fault) from fault
    missing = sorted({name for _, _, names in told for name in names})
    if missing:
        where = ", ".join(sorted({place for place, _, names in told if names})[:3])
        msg = (
            f"the workers: expected {', '.join(modules)} and whence to be importable by their "
            f"Python; got none of {', '.join(missing)} on {where}; "
            "try installing requirements-runtime.txt there, or PYSPARK_PYTHON with a Python that "
            "has them"
        )
        raise RunnerError(msg)


def _look(
    modules: tuple[str, ...],
) -> Callable[[Iterable[int]], Iterable[tuple[str, str, list[str]]]]:
    """What a worker does; made inside a function, it goes by value and needs no import there."""

    def look(numbers: Iterable[int]) -> Iterator[tuple[str, str, list[str]]]:
        import importlib
        import socket
        import sys

        missing: list[str] = []
        for name in (*modules, "whence.engine"):
            try:
                importlib.import_module(name)
            except ImportError as fault:
                if not missing or name != "whence.engine":  # it needs what is missing
                    missing.append(getattr(fault, "name", None) or name)
        for _ in numbers:
            yield socket.gethostname(), sys.executable, missing

    return look


def _no_python(fault: Exception) -> RunnerError:
    told = str(getattr(fault, "java_exception", None) or fault)
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    lines = [line.strip() for line in told.splitlines()]
    wanted = ("PYTHON_VERSION_MISMATCH", "Cannot run program", "Caused by:")
    causes = [line[line.index(word) :] for word in wanted for line in lines if word in line]
    what = (causes or lines or [type(fault).__name__])[0][:300]
    return RunnerError(
        f"the workers: expected a Python {here}, as here; got: {what}; "
        "try PYSPARK_PYTHON with the place of such a Python on the workers"
    )
