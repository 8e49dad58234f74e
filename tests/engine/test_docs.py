"""The examples on the engine's pages run and print what the pages show."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if ">>>" in page.read_text(encoding="utf-8"))


def test_the_papers_three_examples_are_among_the_pages() -> None:
    assert DOCS / "tutorial" / "three-queries.md" in PAGES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_example_prints_what_the_page_shows(page: Path) -> None:
    failed, tried = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert tried > 0
    assert failed == 0
