"""``whence draw``: a chain as a picture, printed or in a file."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.conftest import Cli

CHAIN = "{id: sums, slice: {by: case, combine: max, of: {id: sum, cumulate: add}}}"


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    file = tmp_path / "sums.yaml"
    file.write_text(CHAIN)
    return file


def test_a_chain_is_drawn_into_a_file(cli: Cli, chain: Path) -> None:
    done = cli("draw", "sums.yaml", "-o", "sums.svg")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "drawn: sums.svg\n")
    root = ElementTree.parse(chain.parent / "sums.svg").getroot()
    texts = [element.text for element in root.iter() if element.tag.endswith("}text")]
    assert texts[:3] == ["log", "sums: Slice", "by = case"]
    assert "sum: Cumulate" in texts


@pytest.mark.parametrize(
    ("more", "first"), [([], "flowchart TD"), (["--format", "dot"], 'digraph "sums" {')]
)
def test_a_chain_is_drawn_as_text(cli: Cli, chain: Path, more: list[str], first: str) -> None:
    done = cli("draw", "sums.yaml", *more)
    assert done.returncode == 0
    assert done.stdout.splitlines()[0] == first


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--format", "png"], "expected svg, mermaid, dot; got 'png'; try svg"),
        (["-o", "x.png"], "expected a file .svg, .mmd or .dot; got x.png; try x.svg"),
        (["-o", "no/x.svg"], "expected to write no/x.svg; got No such file or directory"),
    ],
)
def test_what_cannot_be_drawn_is_one_line(
    cli: Cli, chain: Path, more: list[str], message: str
) -> None:
    done = cli("draw", "sums.yaml", *more)
    assert done.returncode == 1
    assert done.stdout == ""
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
