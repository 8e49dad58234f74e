"""Tests that share something run in one process, all others wherever there is time."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from tests.ground.surroundings import ROOT, run

CONFTEST = """
import pytest
from tests import together

def pytest_configure(config):
    config.pluginmanager.register(together)

@pytest.fixture(scope="session")
def neo4j_server(pytestconfig):
    pass

@pytest.fixture
def graph(neo4j_server):
    pass

@pytest.fixture(scope="session")
def spark(pytestconfig):
    (together.folder_of_the_run(pytestconfig) / "session").touch(exist_ok=False)
"""
FIRST = """
import pytest

@pytest.mark.parametrize("n", range(5))
def test_shared(n, graph):
    pass

@pytest.mark.parametrize("n", range(40))
def test_free(n):
    pass
"""
SECOND = """
import pytest

@pytest.fixture(scope="module")
def own():
    pass

@pytest.mark.parametrize("n", range(5))
def test_shared(n, neo4j_server):
    pass

@pytest.mark.parametrize("n", range(5))
def test_spark(n, spark):
    pass

@pytest.mark.spark
@pytest.mark.parametrize("n", range(5))
def test_asking(n, request):  # only while it runs
    request.getfixturevalue("spark")

@pytest.mark.parametrize("n", range(5))
def test_both(n, neo4j_server, spark):
    pass

@pytest.mark.parametrize("n", range(5))
def test_own(n, own):
    pass
"""


def test_groups_go_to_one_process_and_the_rest_to_all(tmp_path: Path) -> None:
    for name, content in {"conftest": CONFTEST, "test_a": FIRST, "test_b": SECOND}.items():
        (tmp_path / f"{name}.py").write_text(content)
    # Of its own: not a process of this test run, nor in its folders.
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "-n", "2", "-v", f"--rootdir={tmp_path}"]
    done = run(
        [*command, "-p", "no:cacheprovider", f"--basetemp={tmp_path / 'temporary'}"],
        cwd=tmp_path,
        env={**environment, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    where: dict[str, set[str]] = {}
    # The names are those that pytest takes: nothing is appended to them.
    ran = re.findall(
        r"^\[(gw\d)\] \[ *\d+%\] PASSED (test_.\.py::\w+)\[\d+\] *$", done.stdout, re.M
    )
    for worker, test in ran:
        where.setdefault(test, set()).add(worker)
    assert len(ran) == 70
    assert where["test_a.py::test_shared"] == where["test_b.py::test_shared"]
    assert len(where["test_a.py::test_shared"]) == 1
    assert where["test_b.py::test_spark"] == where["test_b.py::test_both"]
    assert where["test_b.py::test_spark"] == where["test_b.py::test_asking"]
    assert len(where["test_b.py::test_spark"]) == 1
    assert where["test_b.py::test_spark"] != where["test_a.py::test_shared"]
    assert len(where["test_b.py::test_own"]) == 1
    assert where["test_a.py::test_free"] == {"gw0", "gw1"}
