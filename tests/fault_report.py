"""Say how often each fault was survived: ``pytest -p tests.fault_report -m fault``.

A test says by its mark which fault it is, ``@pytest.mark.fault("batch, loader killed …")``; without
a name it is known by its own. A fault that no test survived is named, and the tests have failed. So
they have if the large profile, of which nothing was left out, survived fewer than are promised.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest

__all__ = ["LEAST", "hits"]

LEAST = 100
"""So many faults the large profile is to survive."""

_planned: dict[str, str] = {}
hits: Counter[str] = Counter()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Note what each test breaks."""
    for item in session.items:
        mark = item.get_closest_marker("fault")
        if mark is not None:
            name = mark.args[0] if mark.args else getattr(item, "originalname", item.name)
            _planned[item.nodeid] = str(name).replace("_", " ")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Count what was broken and survived."""
    if report.when == "call" and report.passed and report.nodeid in _planned:
        hits[_planned[report.nodeid]] += 1


def _wanting(config: pytest.Config) -> list[str]:
    """What is wrong with the hits, a line each."""
    found = [f"{name}: survived by no test" for name in sorted(set(_planned.values()) - set(hits))]
    chosen = any(config.getoption(name, None) for name in ("keyword", "deselect", "lf"))
    full = os.environ.get("WHENCE_TEST_PROFILE") == "full" and not chosen
    if full and hits.total() < LEAST:
        found.append(f"expected at least {LEAST} faults; got {hits.total()}")
    return found


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the hits of each fault, and what is wrong with them."""
    terminalreporter.section(f"{hits.total()} faults survived")
    for name in sorted(set(_planned.values())):
        terminalreporter.write_line(f"{hits[name]:5d}  {name}")
    for line in _wanting(config):
        terminalreporter.write_line(line, red=True)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail if a fault was not hit at all, or if there were too few."""
    if exitstatus == pytest.ExitCode.OK and _wanting(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
