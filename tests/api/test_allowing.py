"""From Python: a chain file calls what `allow` names, on workers too; a record what it may."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.ground.surroundings import ROOT
from whence.api import analyse, open_run, run
from whence.engine.errors import DefinitionError
from whence.store.allowing import why_not_loaded

CHAIN = "line: [{id: less, apply: 'tests.engine.own_functions:neg(p)'}, {id: sum, cumulate: add}]"
EVENTS = [{"p": n} for n in range(40)]


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    file = tmp_path / "chain.yaml"
    file.write_text(CHAIN)
    return file


def test_a_chain_file_calls_what_is_allowed_here(chain: Path, tmp_path: Path) -> None:
    for refused in (
        lambda: run(chain, EVENTS, runner="local", record=tmp_path / "record"),
        lambda: analyse(chain),
    ):
        with pytest.raises(DefinitionError, match="in Python allow="):
            refused()
    found = run(chain, EVENTS, runner="local", record=tmp_path / "record", allow=["tests"])
    assert [value for _, value in found.outputs()][-1] == -sum(range(40))
    assert found.what_if("log@1.p=2").count == 39
    assert analyse(chain, allow=["tests.engine"]).exact is not None


@pytest.mark.spark
def test_what_the_driver_was_allowed_the_workers_compute(
    spark: SparkSession, chain: Path, tmp_path: Path
) -> None:
    found = run(chain, EVENTS, record=tmp_path / "record", session=spark, allow=["tests"])
    assert [value for _, value in found.outputs()][-1] == -sum(range(40))


AGAIN = """
import sys
from whence.api import open_run
from whence.engine.errors import RunnerError

root, allow = sys.argv[1], sys.argv[2:]
found = open_run("latest", record=root, allow=allow)
assert "own_functions:neg" in str(found.chain.tree())
assert found.explain(3).found.count == 4
try:
    print(found.what_if("log@1.p=2").count)
except RunnerError as error:
    print(error)
print("tests.engine.own_functions" in sys.modules)
"""


def test_a_run_of_the_record_is_run_again_with_what_is_allowed_anew(
    chain: Path, tmp_path: Path
) -> None:
    run(chain, EVENTS, runner="local", record=tmp_path / "record", allow=["tests"])

    def said(*allow: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", AGAIN, str(tmp_path / "record"), *allow],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])},
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        )
        return done.stdout.splitlines()

    refusal, imported = said()
    assert "try --allow tests (in Python allow=['tests'])" in refusal
    assert imported == "False"
    assert said("tests") == ["39", "True"]


def test_a_process_keeps_the_functions_that_it_was_allowed(chain: Path, tmp_path: Path) -> None:
    found = run(chain, EVENTS, runner="local", record=tmp_path / "record", allow=["tests"])
    assert why_not_loaded(found.record.manifest.chain) is None
    assert open_run(record=tmp_path / "record").what_if("log@1.p=2").count == 39
    other = {"id": "a", "apply": {"call": "tests.engine.examples:none", "arguments": [1]}}
    assert "try --allow tests" in str(why_not_loaded(other))


def test_a_run_whose_chain_cannot_be_read_here_is_opened(chain: Path, tmp_path: Path) -> None:
    found = run(chain, EVENTS, runner="local", record=tmp_path / "record", allow=["tests"])
    manifest = found.record.folder / "manifest.json"
    text = manifest.read_text("utf-8")
    assert '"cumulate"' in text
    manifest.write_text(text.replace('"cumulate"', '"of-a-palette"'), "utf-8")
    again = open_run(record=tmp_path / "record")
    assert len(list(again.outputs())) == 40
    with pytest.raises(DefinitionError, match="expected a known tag"):
        again.what_if("log@1.p=2")
