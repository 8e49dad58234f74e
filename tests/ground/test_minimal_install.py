"""The engine and the command line start without Spark, Neo4j, PROV or the page installed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.ground.surroundings import run

OPTIONAL = ("pyspark", "pandas", "neo4j", "rdflib", "prov", "pyoxigraph", "starlette", "uvicorn")

NAMES = ("whence.engine", "whence.store", "whence.cli", "whence.api", "whence.notebook")

BLOCK = f"""
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {OPTIONAL!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
        return None

sys.meta_path.insert(0, Blocker())
"""


def without_extras(code: str, cwd: Path) -> tuple[int, str]:
    done = run([sys.executable, "-c", BLOCK + code], cwd=cwd)
    return done.returncode, done.stdout + done.stderr


def test_the_blocker_blocks(tmp_path: Path) -> None:
    code, said = without_extras("import pyspark", tmp_path)
    assert code == 1
    assert "No module named 'pyspark'" in said


@pytest.mark.parametrize("name", NAMES)
def test_it_imports_without_any_extra(name: str, tmp_path: Path) -> None:
    code, said = without_extras(f"import {name}", tmp_path)
    assert code == 0, said


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_the_command_line_answers_without_any_extra(option: str, tmp_path: Path) -> None:
    start = f"sys.argv = ['whence', {option!r}]\nfrom whence.cli import main\nmain()"
    code, said = without_extras(start, tmp_path)
    assert code == 0, said
    assert "hence" in said


def test_without_spark_a_run_names_what_is_missing_and_the_interpreter_runs_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "chain.yaml").write_text("{id: low, apply: p}", encoding="utf-8")
    (tmp_path / "log.csv").write_text("p\n1\n", encoding="utf-8")
    arguments = ["whence", "run", "chain.yaml", "--log", "log.csv", "--quiet"]
    main = "\nfrom whence.cli import main\nmain()"
    code, said = without_extras(f"sys.argv = {[*arguments, '--record', 'r']!r}{main}", tmp_path)
    assert code == 1
    assert "'pyspark'; it is not installed; try: pip install 'whence[spark]', or --runner" in said
    assert said.count("\n") == 1
    arguments += ["--runner", "interpreter"]
    code, said = without_extras(f"sys.argv = {arguments!r}{main}", tmp_path)
    assert (code, said.split()) == (0, ["position", "moment", "value", "0", "0", "1"])
