"""What the pages on chains and formulas show is what happens."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

from tests.conftest import Cli
from whence.engine.errors import DefinitionError
from whence.engine.functions import FUNCTIONS
from whence.engine.language.chain_file import dump_chain, load_chain
from whence.engine.language.formula.faults import RESERVED
from whence.engine.language.log import COLUMN_KINDS
from whence.engine.language.registry import processor_types
from whence.engine.record import record_place

DOCS = Path(__file__).parents[2] / "docs"
FORMULAS, FILES = DOCS / "reference" / "formulas.md", DOCS / "reference" / "chain-files.md"
RECORD, RUN_ID = "~/.local/share/whence/record", re.compile(r"\d{8}-\d{6}-[0-9a-f]{6}")
BLOCK = re.compile(r"(?:`([\w.]+)`:\n\n)?^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", [FORMULAS, FILES], ids=lambda page: page.name)
def test_the_examples_in_python_hold(page: Path) -> None:
    found = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert found.attempted > 3
    assert found.failed == 0


@pytest.mark.spark
def test_the_walk_from_nothing_to_an_answer_works_as_written(cli: Cli, tmp_path: Path) -> None:
    page = (DOCS / "how-to" / "run-a-chain.md").read_text(encoding="utf-8")
    commands = 0
    for name, language, text in BLOCK.findall(page):
        if name:
            (tmp_path / name).write_text(text, encoding="utf-8")
        if language != "console":
            continue
        command, _, printed = text.partition("\n")
        done = cli(*shlex.split(command.removeprefix("$ whence ")))
        said = (done.stdout + done.stderr).replace(str(record_place()), RECORD)
        lines = RUN_ID.sub("20260301-093000-a1b2c3", said).splitlines()
        assert [line.rstrip() for line in lines] == printed.splitlines(), command
        commands += 1
    assert commands == 8


def test_every_chain_on_the_page_is_a_chain() -> None:
    texts = [text for _, kind, text in BLOCK.findall(FILES.read_text("utf-8")) if kind == "yaml"]
    assert len(texts) >= 4
    for text in texts:
        chain = load_chain(text)
        assert load_chain(dump_chain(chain)) == chain


def test_every_error_on_the_page_is_said_so() -> None:
    section = FILES.read_text(encoding="utf-8").partition("## Errors")[2]
    rows = re.findall(r"^\| `(\{.*?\})` \| (.*) \|$", section, re.MULTILINE)
    assert len(rows) == 4
    for text, message in rows:
        with pytest.raises(DefinitionError) as caught:
            load_chain(text)
        assert message in str(caught.value)


def test_every_tag_kind_function_and_reserved_word_is_on_its_page() -> None:
    files, formulas = FILES.read_text(encoding="utf-8"), FORMULAS.read_text(encoding="utf-8")
    tags = set(re.findall(r"^\| `(\w+)` \|", files, re.MULTILINE))
    assert tags == ({*processor_types(), "formula"} - {"python"})
    assert [kind for kind in COLUMN_KINDS if f"`{kind}`" not in files] == []
    listed = formulas.partition("<!-- functions -->")[2].partition("<!-- end -->")[0]
    assert re.findall(r"`(\w+)`", listed) == sorted(FUNCTIONS)
    words = formulas.partition("Reserved words")[2].partition("##")[0]
    assert re.findall(r"`(\w+)`", words) == list(RESERVED)
