"""Imports go exporters, store, engine, never back; and the tool that holds it does hold it."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.ground.surroundings import ROOT, run

PORTIONS = ("engine", "store", "exporters")
LINT = str(Path(sys.executable).with_name("lint-imports"))


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for portion in PORTIONS:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / portion, tmp_path / portion, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def lint(copy: Path) -> tuple[int, str]:
    paths = os.pathsep.join(str(copy / portion) for portion in PORTIONS)
    done = run([LINT, "--no-cache"], cwd=copy, env={**os.environ, "PYTHONPATH": paths})
    return done.returncode, done.stdout


def test_the_tree_keeps_the_layers(copy: Path) -> None:
    code, said = lint(copy)
    assert code == 0, said


@pytest.mark.parametrize(
    ("where", "imported"),
    [
        ("engine", "store"),
        ("engine", "exporters"),
        ("store", "exporters"),
        ("engine", "cli"),
        ("exporters", "cli"),
        ("exporters", "web"),
        ("store", "web"),
    ],
)
def test_a_planted_import_back_is_refused(copy: Path, where: str, imported: str) -> None:
    planted = copy / where / "whence" / where / "planted.py"
    planted.write_text(f"import whence.{imported}\n")
    code, said = lint(copy)
    assert code == 1
    assert f"whence.{where}.planted -> whence.{imported}" in " ".join(said.split())
