"""The manual is built from the pages, strictly, and asks no other host for anything."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import pytest

from tests.ground.surroundings import ROOT, run
from tools import pictures
from tools.manual import contents_of
from tools.processor_page import PAGE, files
from whence.engine.language.registry import processor_types
from whence.store.whence_toml import KEYS, WhenceToml

OURS_ALONE = {"PATH"}
SPARKS_OWN = {"SPARK_CONF_DIR"}
PUBLIC = ["whence.api", "whence.engine", "whence.store", "whence.exporters", "whence.web"]


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("manual")
    words = ["-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going", "docs", str(place)]
    done = run([sys.executable, *words], cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    return place


NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_is_kept_without_outputs_and_built_with_them(
    manual: Path, notebook: Path
) -> None:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    assert not [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")]
    built = (manual / "notebooks" / f"{notebook.stem}.html").read_text(encoding="utf-8")
    shown = sum(cell["cell_type"] == "code" for cell in cells)
    assert built.count('class="whence-cell"') >= shown - 2
    assert built.count('<svg xmlns="http://www.w3.org/2000/svg" class="whence"') >= 4
    assert "because of" in built


def test_the_pictures_are_those_that_the_command_makes() -> None:
    for name, text in pictures.files().items():
        kept = (pictures.FOLDER / name).read_text(encoding="utf-8")
        assert kept == text, "run python -m tools.pictures"


def test_every_setting_is_on_the_page_of_configuration_and_no_other() -> None:
    page = (ROOT / "docs/reference/configuration.md").read_text(encoding="utf-8")
    settings = set(re.findall(r"^\| `\[neo4j\]` \| `(\w+)`", page, re.MULTILINE))
    assert settings == set(KEYS)
    told = {field.name for field in fields(WhenceToml)} - {"path", "digest"}
    tables = set(re.findall(r"^\| `\[(\w+)\]`", page, re.MULTILINE))
    outside = set(re.findall(r"^\| \| `(\w+)`", page, re.MULTILINE))
    assert tables | outside == told


def test_every_environment_variable_is_on_the_page_of_configuration_and_no_other() -> None:
    page = (ROOT / "docs/reference/configuration.md").read_text(encoding="utf-8")
    section = page.partition("## The environment")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`[A-Z_0-9`, ]+) \|", section, re.MULTILINE)
    listed = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    source = "\n".join(
        path.read_text(encoding="utf-8")
        for folder in ("engine", "store", "exporters", "app", "bench")
        for path in (ROOT / folder).rglob("*.py")
    )
    own = set(re.findall(r"[\"'`](?:WHENCE|BENCH)_[A-Z_]+(?=[\"'`])", source))
    own = {name.strip("\"'`") for name in own}
    read = set(re.findall(r"environ(?:\.get\(|\.setdefault\(|\[)\"([A-Z_0-9]+)\"", source))
    assert (own | read) - listed - OURS_ALONE == set()
    assert {name for name in listed if name not in source} <= SPARKS_OWN


def test_every_page_of_the_contents_is_built(manual: Path) -> None:
    listed = re.findall(
        r"^([\w-]+/[\w-]+)$",
        contents_of((ROOT / "docs/index.md").read_text(encoding="utf-8")),
        re.MULTILINE,
    )
    assert len(listed) > 20
    assert [page for page in listed if not (manual / f"{page}.html").is_file()] == []


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_is_in_the_manual(manual: Path, module: str) -> None:
    page = (manual / "reference/python.html").read_text(encoding="utf-8")
    names = import_module(module).__all__
    assert [name for name in names if f'id="{module}.{name}"' not in page] == []


def test_no_page_loads_anything_from_another_host(manual: Path) -> None:
    loads = re.compile(r"""<(?:script|link|img|iframe)[^>]*(?:src|href)=["'](?:https?:)?//[^"']*""")
    found = {
        page.name: loads.findall(page.read_text(encoding="utf-8"))
        for page in manual.rglob("*.html")
    }
    assert len(found) > 20
    assert {name: loaded for name, loaded in found.items() if loaded} == {}


def test_the_page_of_processors_is_made_from_their_files() -> None:
    made = files()
    assert len(made) > 15
    old = [
        name
        for name, text in made.items()
        if not (PAGE.parent / name).exists() or (PAGE.parent / name).read_text("utf-8") != text
    ]
    assert old == [], "run python -m tools.processor_page"


def test_every_processor_has_its_section_with_a_picture() -> None:
    page = files()[PAGE.name]
    for kind in (k for group in processor_types().values() for k in group):
        if kind.__module__.startswith("whence."):
            section = page.partition(f"\n## {kind.__name__}\n")[2].partition("\n## ")[0]
            assert ">>> " in section, kind
            assert f"(processors/{kind.__name__}.svg)" in section, kind
