"""Every command and every import that a page shows is one that there is."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_manual import commands, options
from tests.ground.surroundings import ROOT
from whence.cli.app import GLOBAL_FLAGS

PAGES = [ROOT / "README.md", ROOT / "deploy" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
KNOWN: dict[str, Any] = dict(commands())
BLOCK = re.compile(r"^```(?:sh|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def spoken(page: Path) -> Iterator[list[str]]:
    """The words of every whence command in a page's blocks."""
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        lines = block.replace("\\\n", " ").splitlines()
        console = any(line.startswith("$ ") for line in lines)
        for line in lines:
            if console and not line.startswith("$ "):
                continue  # what is printed
            words = shlex.split(line.removeprefix("$ "), comments=True)
            if words and Path(words[0]).name == "whence":
                yield words[1:]


def test_there_are_many_commands_on_the_pages() -> None:
    assert sum(len(list(spoken(page))) for page in PAGES) > 60


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_on_a_page_is_one(page: Path) -> None:
    for words in spoken(page):
        given = [word for word in words if word not in GLOBAL_FLAGS]
        names = [" ".join(["whence", *given[:n]]) for n in (2, 1, 0)]
        name = next(name for name in names if name in KNOWN)
        taken = options(KNOWN[name]) | {"--help", "-h", "--version"}
        said = [word.partition("=")[0] for word in given if re.match(r"--?[a-z]", word)]
        assert [word for word in said if word not in taken] == [], (words, name)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_import_on_a_page_works(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    examples = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    for example in (each for each in examples if ">>>" not in each):
        for node in ast.walk(ast.parse(example)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("whence"):
                module = import_module(str(node.module))
                assert [a.name for a in node.names if not hasattr(module, a.name)] == []
