"""Imports go application, exporters, store, engine, never back; and the tool holds it."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.ground.surroundings import ROOT, run

PORTIONS = ("engine", "store", "exporters", "app")
LINT = str(Path(sys.executable).with_name("lint-imports"))

BACK = [
    ("engine.planted", "store"),
    ("engine.planted", "exporters"),
    ("store.planted", "exporters"),
    *(
        (f"{where}.planted", imported)
        for where in ("engine", "store", "exporters")
        for imported in ("api", "cli", "notebook", "results", "streams", "web")
    ),
    ("notebook.planted", "results"),
    ("results", "streams"),
    ("results", "api"),
    ("streams", "api"),
    ("api", "cli"),
    ("api", "web"),
    ("web.planted", "cli"),
]
"""A module, and what it must not import."""

UP = [
    ("values", "functions"),
    ("functions", "language"),
    ("language", "tracker"),
    ("language", "processors"),
    ("processors", "interpreter"),
    ("interpreter", "kernels"),
    ("kernels", "record"),
    ("kernels", "sources"),
    ("sources", "kernels"),
    ("sources", "runners"),
    ("record", "runners"),
    ("runners", "what_if"),
    ("what_if", "testing"),
]
"""A room of the engine, and one above it."""


ALONE = f"""
import runpy, sys
sys.path[:] = [p for p in sys.path if p not in {[str(ROOT / each) for each in PORTIONS]}]
sys.argv[:] = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""Runs a program without the portions that are installed here: two of a module are one too many."""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for portion in PORTIONS:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / portion, tmp_path / portion, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def lint(copy: Path) -> tuple[int, str]:
    paths = os.pathsep.join(str(copy / portion) for portion in PORTIONS)
    command = [sys.executable, "-c", ALONE, LINT, "--no-cache"]
    done = run(command, cwd=copy, env={**os.environ, "PYTHONPATH": paths})
    return done.returncode, " ".join(done.stdout.split())


def plant(copy: Path, module: str, line: str) -> None:
    """Add a line to a module of the copy, or make the module."""
    package = module.partition(".")[0]
    portion = package if package in PORTIONS else "app"
    file = copy.joinpath(portion, "whence", *module.split(".")).with_suffix(".py")
    with file.open("a", encoding="utf-8") as opened:
        opened.write(f"{line}\n")


def test_the_tree_keeps_the_layers(copy: Path) -> None:
    code, said = lint(copy)
    assert code == 0, said


def test_every_planted_import_back_is_refused(copy: Path) -> None:
    for module, imported in BACK:
        plant(copy, module, f"import whence.{imported}")
    code, said = lint(copy)
    assert code == 1
    missed = [pair for pair in BACK if "whence.{} -> whence.{} ".format(*pair) not in said]
    assert missed == [], said


def test_an_import_back_inside_a_function_is_refused(copy: Path) -> None:
    plant(copy, "engine.planted", "def late():\n    import whence.api")
    code, said = lint(copy)
    assert code == 1
    assert "whence.engine.planted -> whence.api " in said


def test_a_module_that_is_in_no_layer_is_refused(copy: Path) -> None:
    plant(copy, "planted", "import whence.cli")
    code, said = lint(copy)
    assert code == 1
    assert "are not listed as layers: - whence.planted " in said


def test_every_planted_way_up_inside_the_engine_is_refused(copy: Path) -> None:
    for room, imported in UP:
        plant(copy, f"engine.{room}.planted", f"def late():\n    import whence.engine.{imported}")
    code, said = lint(copy)
    assert code == 1
    ways = [f"whence.engine.{room}.planted -> whence.engine.{imported} " for room, imported in UP]
    assert [way for way in ways if way not in said] == [], said


def test_a_module_of_the_engine_that_is_in_no_layer_is_refused(copy: Path) -> None:
    plant(copy, "engine.planted", "")
    code, said = lint(copy)
    assert code == 1
    assert "- whence.engine.planted " in said
