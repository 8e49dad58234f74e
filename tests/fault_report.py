"""Say how often each fault was survived: ``pytest -p tests.fault_report -m fault``.

A test says by its mark which fault it is, ``@pytest.mark.fault("batch, loader killed …")``; without
a name it is known by its own. A fault that no test survived is named, and the tests have failed.
"""

from __future__ import annotations

from collections import Counter

import pytest

__all__ = ["hits"]

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


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the hits of each fault."""
    terminalreporter.section(f"{sum(hits.values())} faults survived")
    for name in sorted(set(_planned.values())):
        terminalreporter.write_line(f"{hits[name]:5d}  {name}")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail if a fault was not hit at all."""
    if exitstatus == pytest.ExitCode.OK and not all(hits[name] for name in _planned.values()):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
