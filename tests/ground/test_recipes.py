"""The glossary defines each term once, and recipes name files that exist."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.ground.surroundings import ROOT, tracked

GLOSSARY = Path("docs/reference/glossary.md")
RECIPES = Path("docs/how-to/add-to-whence.md")
PAGES = [page for page in tracked("*.md", "*.ipynb") if page != GLOSSARY]
TERMS = re.findall(r"^## (.+)$", (ROOT / GLOSSARY).read_text(encoding="utf-8"), re.MULTILINE)


def definition(term: str) -> str:
    text = (ROOT / GLOSSARY).read_text(encoding="utf-8")
    return text.partition(f"\n## {term}\n")[2].partition("\n## ")[0].strip()


def links_to_the_glossary() -> Counter[str]:
    return Counter(
        anchor
        for page in PAGES
        for anchor in re.findall(
            r"\]\([^)\s]*glossary\.md#([a-z-]+)\)", (ROOT / page).read_text(encoding="utf-8")
        )
    )


def test_every_term_is_defined_once_in_alphabetical_order() -> None:
    assert len(TERMS) > 20
    assert sorted(set(TERMS)) == TERMS


@pytest.mark.parametrize("term", TERMS)
def test_a_term_has_a_short_definition_and_an_example(term: str) -> None:
    text, _, example = definition(term).partition("\n\n*Example:* ")
    assert 20 < len(text) < 400
    assert 20 < len(example) < 200


@pytest.mark.parametrize("term", TERMS)
def test_a_term_is_linked_from_a_page(term: str) -> None:
    assert links_to_the_glossary()[term.lower()] > 0


def test_every_link_to_the_glossary_finds_its_term() -> None:
    known = {term.lower() for term in TERMS}
    assert set(links_to_the_glossary()) - known == set()
    inside = re.findall(r"\]\(#([a-z-]+)\)", (ROOT / GLOSSARY).read_text(encoding="utf-8"))
    assert set(inside) - known == set()


def test_every_file_that_a_recipe_names_exists() -> None:
    text = (ROOT / RECIPES).read_text(encoding="utf-8")
    named = re.findall(r"`([\w./-]+/[\w.-]+\.\w+|pyproject\.toml)`", text)
    assert len(named) > 30
    assert [name for name in named if not (ROOT / name).is_file()] == []


def test_there_is_a_recipe_for_each_kind_of_addition() -> None:
    titles = re.findall(r"^## (.+)$", (ROOT / RECIPES).read_text(encoding="utf-8"), re.MULTILINE)
    assert titles == [
        "Add a processor",
        "Add a question",
        "Add a property of events",
        "Add a log format",
    ]
