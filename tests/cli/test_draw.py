"""``whence draw``: a chain as a picture, printed or in a file."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.conftest import Cli
from whence.api import run
from whence.engine import ApplyFunction, Slice

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


@pytest.fixture
def record(tmp_path: Path) -> Path:
    events = [{"case": n % 2, "x": x} for n, x in enumerate([3, 0, 5, 1])]
    chain = Slice("all", by="case", of=ApplyFunction("paid", "x > 0"), combine="and")
    run(chain, events, runner="local", record=tmp_path / "record", tracked=True)
    return tmp_path / "record"


@pytest.mark.parametrize("format", ["svg", "mermaid", "dot"])
def test_a_run_and_an_explanation_are_drawn_alike(cli: Cli, record: Path, format: str) -> None:
    """One vocabulary: what is an input looks alike in both, and so does what is an output."""
    given = ("draw", "--run", "latest", "--record", str(record), "--format", format)
    chain, why = cli(*given), cli(*given, "--explain", "1")
    assert (chain.returncode, why.returncode) == (0, 0), chain.stderr + why.stderr
    assert "all: Slice" in chain.stdout
    assert all(name in why.stdout for name in ("all@1", "all/paid@1", "log@1"))
    assert "log@2" not in why.stdout
    looks = {
        "svg": ('class="box input"', 'class="box output"'),
        "mermaid": ('[/"log', '(["all'),
        "dot": ("shape=parallelogram", "style=rounded, penwidth=2"),
    }[format]
    for drawn in (chain.stdout, why.stdout):
        assert all(look in drawn for look in looks)


def test_counts_of_a_run_stand_on_its_pipes(cli: Cli, record: Path) -> None:
    done = cli("draw", "--run", "latest", "--record", str(record))
    assert done.stdout.count('|"4"|') == 2


@pytest.mark.parametrize(
    ("words", "got"),
    [
        ([], "got neither"),
        (["--explain", "1"], "got --explain without --run"),
        (["sums.yaml", "--run", "latest"], "got both"),
    ],
)
def test_it_is_either_a_chain_or_a_run(cli: Cli, chain: Path, words: list[str], got: str) -> None:
    done = cli("draw", *words)
    assert done.returncode == 1
    assert f"expected a chain file or --run RUN; {got}" in done.stderr
