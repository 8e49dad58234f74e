"""The manual is built from the pages, strictly, and asks no other host for anything."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tests.ground.surroundings import ROOT, run
from tools.manual import contents_of
from tools.processor_page import PAGE, files
from whence.engine.registry import processor_types

PUBLIC = ["whence.api", "whence.engine", "whence.store", "whence.exporters", "whence.web"]


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("manual")
    words = ["-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going", "docs", str(place)]
    done = run([sys.executable, *words], cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    return place


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
