"""Tests that share something run in one process, all others wherever there is time."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

from tests.ground.surroundings import ROOT, run
from tests.together import GROUPS

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

@pytest.mark.fault
def test_long():
    pass
"""
THIRD = """
import pytest

@pytest.mark.parametrize("n", range(4))
def test_shared(n, neo4j_server):
    pass
"""


def test_groups_go_to_one_process_and_the_rest_to_all(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    files = {"conftest": CONFTEST, "test_a": FIRST, "test_b": SECOND, "store/test_c": THIRD}
    for name, content in files.items():
        (tmp_path / f"{name}.py").write_text(content)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  spark: x\n  fault: x\n")
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
    test = r"(?:store/)?test_.\.py::\w+"
    ran = re.findall(rf"^\[(gw\d)\] \[ *\d+%\] PASSED ({test})(?:\[\d+\])? *$", done.stdout, re.M)
    for worker, test in ran:
        where.setdefault(test, set()).add(worker)
    assert len(ran) == 75
    assert where["test_a.py::test_shared"] == where["test_b.py::test_shared"]
    assert len(where["test_a.py::test_shared"]) == 1
    assert where["test_b.py::test_spark"] == where["test_b.py::test_both"]
    assert where["test_b.py::test_spark"] == where["test_b.py::test_asking"]
    assert len(where["test_b.py::test_spark"]) == 1
    assert where["test_b.py::test_spark"] != where["test_a.py::test_shared"]
    assert len(where["test_b.py::test_own"]) == 1
    assert where["test_a.py::test_free"] == {"gw0", "gw1"}
    assert len(where["store/test_c.py::test_shared"]) == 1
    groups = json.loads((tmp_path / "temporary" / GROUPS).read_text("utf-8"))
    assert (
        len({groups[f"{file}::test_shared[0]"] for file in ("test_a.py", "store/test_c.py")}) == 2
    )
    order = [test for _, test in ran]
    before = order[: order.index("test_b.py::test_long")]
    assert before.count("test_a.py::test_free") < 20
