"""How often what was killed at each named point of a run on Spark: a table at the end of the tests.

A plugin for pytest, registered by conftest.py. Tests tell of their kills as properties, which also
reach the end if several processes share the work.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

__all__ = ["POINTS", "Tell", "counted"]

POINTS = {
    "stream, driver": ("begin", "part", "listed", "state", "kept", "between", "ending"),
    "stream at a URI": (
        *("begin", "copying", "part", "listed", "state", "kept", "between", "ending"),
    ),
    "batch, worker": (
        "before a part",
        "inside a commit",
        "after a part",
        "between batches",
        "before the commit",
    ),
    "batch, driver": ("after a part", "between batches"),
}
"""Of what is killed, the points; see `stream_killed` and `test_spark_killed` for what they mean."""

Tell = Callable[[str, object], None]
"""The fixture ``record_property``."""


def counted(tell: Tell, what: str, hits: Counter[str]) -> None:
    """Tell what was killed where."""
    for point, times in hits.items():
        assert point in POINTS[what]
        tell("killed", [what, point, times])


@pytest.hookimpl
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table, if anything was killed."""
    hits: Counter[tuple[str, str]] = Counter()
    for report in terminalreporter.getreports("passed"):
        for name, told in getattr(report, "user_properties", ()):
            if name == "killed" and report.when == "call":
                what, point, times = told
                hits[what, point] += times
    if not hits:
        return
    terminalreporter.section("killed on Spark, and said the same after that")
    for what, points in POINTS.items():
        for point in points:
            terminalreporter.line(f"{what:16}{point:20}{hits[what, point]:4}")
    terminalreporter.line(f"{'all':36}{hits.total():4}")
