"""The layout that packaging, type checkers and Spark workers lean on."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections import defaultdict
from importlib import import_module
from pathlib import Path

import pytest

from tests.ground.surroundings import ROOT, run, tracked

PORTIONS = {
    "whence.engine": ROOT / "engine/whence/engine",
    "whence.store": ROOT / "store/whence/store",
    "whence.exporters": ROOT / "exporters/whence/exporters",
    "whence.cli": ROOT / "app/whence/cli",
    "whence.web": ROOT / "app/whence/web",
    "whence.notebook": ROOT / "app/whence/notebook",
}
LONGEST = 400


@pytest.mark.parametrize("name", PORTIONS)
def test_every_portion_is_marked_as_typed(name: str) -> None:
    assert (PORTIONS[name] / "py.typed").is_file()


@pytest.mark.parametrize("name", PORTIONS)
def test_every_portion_says_what_is_public(name: str) -> None:
    module = import_module(name)
    assert [entry for entry in module.__all__ if not hasattr(module, entry)] == []


def test_modules_of_the_application_that_are_in_no_package_are_marked_as_typed() -> None:
    assert (ROOT / "app/whence/py.typed").is_file()


def test_coverage_measures_every_package_and_module() -> None:
    found = {
        f"whence.{path.stem}"
        for path in ROOT.glob("*/whence/*")
        if path.suffix == ".py" or (path / "__init__.py").is_file()
    }
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert set(project["tool"]["coverage"]["run"]["source_pkgs"]) == found - {"whence.__main__"}


def test_the_namespace_has_no_init_file() -> None:
    assert [path for path in ROOT.glob("*/whence/__init__.py")] == []


def test_no_source_file_is_loaded_under_two_names() -> None:
    names_of: dict[Path, set[str]] = defaultdict(set)
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and name != "__main__":
            path = Path(file).resolve()
            if path.is_relative_to(ROOT) and not path.is_relative_to(ROOT / ".venv"):
                names_of[path].add(name)
    assert names_of, "the run has loaded no file of the project"
    assert {path: names for path, names in names_of.items() if len(names) > 1} == {}


@pytest.mark.parametrize("portion", ["engine", "store", "exporters", "app"])
def test_importing_a_portion_by_its_folder_is_refused(portion: str, tmp_path: Path) -> None:
    planted = tmp_path / "planted.py"
    planted.write_text(f'"""Works at the root by accident."""\n\nimport {portion}  # noqa: F401\n')
    config = str(ROOT / "pyproject.toml")
    done = run([sys.executable, "-m", "ruff", "check", "--config", config, str(planted)])
    assert done.returncode == 1
    assert "TID251" in done.stdout


def test_files_stay_small_enough_to_read() -> None:
    sizes = {
        file: len((ROOT / file).read_text(encoding="utf-8").splitlines())
        for file in tracked("*.py")
    }
    assert {file: size for file, size in sizes.items() if size > LONGEST} == {}


def test_every_module_says_in_its_first_line_what_it_is() -> None:
    silent = [
        file
        for folder in ("engine", "store", "exporters", "app", "bench")
        for file in tracked(f"{folder}/*.py")
        if not ast.get_docstring(ast.parse((ROOT / file).read_text(encoding="utf-8")))
    ]
    assert silent == []
