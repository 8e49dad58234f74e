"""What the pages on logs show is what happens: every command, every script, every table."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import typer
from typer.testing import CliRunner

from whence.cli.app import app
from whence.cli.reading_options import reads_logs
from whence.engine.language.log import DECLARABLE, Log
from whence.engine.sources import FORMATS
from whence.engine.sources.cells import CELL_KINDS
from whence.engine.sources.limits import Limits
from whence.engine.sources.mapping import CUSTOMARY

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DOCS = Path(__file__).parents[2] / "docs"
REFERENCE = (DOCS / "reference" / "logs.md").read_text(encoding="utf-8")


class Block(NamedTuple):
    """A block of a page: the file it is, if it has a name, and what is printed, if that follows."""

    name: str
    language: str
    text: str
    prints: str


def blocks(page: str) -> Iterator[Block]:
    text = (DOCS / page).read_text(encoding="utf-8")
    pattern = re.compile(
        r"(?:`([\w.]+)`:\n\n)?^```(\w+)\n(.*?)^```(?:\n\nIt prints:\n\n```text\n(.*?)^```)?",
        re.MULTILINE | re.DOTALL,
    )
    for found in pattern.findall(text):
        yield Block(*found)


def said_and_done(text: str) -> Iterator[tuple[str, str]]:
    """The commands of a block, each with what it prints."""
    for part in re.split(r"^\$ whence ", text, flags=re.MULTILINE)[1:]:
        command, _, printed = part.partition("\n")
        yield command, printed


@pytest.mark.parametrize(
    ("page", "commands"),
    [
        ("how-to/look-at-a-log.md", 6),
        ("how-to/read-a-log.md", 8),
        ("tutorial/a-log-of-payments.md", 3),
    ],
)
def test_a_page_works_as_written(
    page: str,
    commands: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WHENCE_RECORD", str(tmp_path / "record"))
    count = 0
    for block in blocks(page):
        if block.name:
            Path(block.name).write_text(block.text, encoding="utf-8")
        if block.language == "console":
            for command, printed in said_and_done(block.text):
                done = CliRunner().invoke(app, shlex.split(command))
                said = (done.stdout + done.stderr).splitlines()
                assert [line.rstrip() for line in said] == printed.splitlines(), command
                count += 1
        elif block.language == "python" and "spark" not in block.text:
            capsys.readouterr()
            exec(compile(block.text, page, "exec"), {})
            assert capsys.readouterr().out == block.prints
    assert count == commands


@pytest.mark.spark
def test_the_example_on_tables_of_spark_works(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("WHENCE_RECORD", str(tmp_path))
    page = blocks("how-to/read-a-log.md")
    (block,) = [b for b in page if b.language == "python" and "spark" in b.text]
    exec(compile(block.text, "read-a-log.md", "exec"), {"spark": spark})
    assert capsys.readouterr().out == block.prints == "['a', 'b']\n"


def rows(section: str) -> list[list[str]]:
    """The rows of the first table behind a heading, without its head."""
    text = REFERENCE.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[1:]]


def test_everything_that_can_be_declared_is_on_the_page_with_its_option() -> None:
    words = {
        row[0].strip("`"): row[1].strip("`").split()[0] for row in rows("What can be declared")
    }
    assert list(words) == list(DECLARABLE)

    def bare(reading: Log) -> None:
        """Nothing."""

    made = typer.Typer()
    made.command()(reads_logs(bare))
    command: Any = typer.main.get_command(made)
    options = {option for parameter in command.params for option in parameter.opts}
    assert set(words.values()) == options - {"--install-completion", "--show-completion"}


def test_formats_kinds_names_and_limits_are_those_of_the_code() -> None:
    assert {row[0].strip("`") for row in rows("Formats")} == {*FORMATS, "spark", "arrow"}
    assert {*CELL_KINDS} < {row[0].strip("`") for row in rows("Kinds")}
    named = {row[0]: re.findall(r"`([^`]+)`", row[1]) for row in rows("The mapping")}
    assert named == {role: list(names) for role, names in CUSTOMARY.items()}
    listed = {row[0].strip("`"): int(row[1].replace(",", "")) for row in rows("Limits")}
    assert listed == {each.name: Limits().by_name(each.name) for each in fields(Limits)}
