"""``whence analyse``, as a user runs it."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

from tests.conftest import Cli

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "analyse-a-chain.md"
BLOCK = re.compile(r"(?:`([\w.]+)`:\n\n)?^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_the_page_shows_what_is_printed(cli: Cli, tmp_path: Path) -> None:
    commands = 0
    for name, language, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if name:
            (tmp_path / name).write_text(text, encoding="utf-8")
        if language == "console":
            command, _, printed = text.partition("\n")
            done = cli(*shlex.split(command.removeprefix("$ whence ")))
            assert done.returncode == 0, done.stderr
            assert [line.rstrip() for line in done.stdout.splitlines()] == printed.splitlines()
            commands += 1
    assert commands == 2
    document = json.loads(cli("analyse", "thirds.yaml", "--json").stdout)
    assert document["logs"][0]["period"] == 3
    assert document["exact"] is True
    assert cli("analyse", "thirds.yaml", "--csv").stdout.startswith("of,name,what\n")
    rows = cli("analyse", "rule.yaml", "--input", "7", "--csv").stdout.splitlines()
    assert rows[0] == "output,outputs,and_on,explains_at_most"


def test_refusals_are_one_line(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "chain.yaml").write_text("id: skip\ntrim: 2\n", encoding="utf-8")
    for cell, words in (
        ("x", "expected [LOG@]POSITION[.FIELD]; got 'x'; try log@7"),
        ("other@1", "expected one of log; got 'other'"),
        ("log@99999999", "expected a position below"),
    ):
        done = cli("analyse", "chain.yaml", "--input", cell)
        assert done.returncode == 1
        assert words in done.stderr
        assert done.stderr.count("\n") == 1


UNDECLARED = """
logs:
  log: {columns: {case: text, action: text}}
line:
  - {id: big, filter: {where: amount > 3}}
  - {id: cases, slice: {by: case, combine: and, of: {id: x, apply: acton = 'a'}}}
"""


def test_a_column_that_is_not_declared_is_to_be_declared(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "chain.yaml").write_text(UNDECLARED, encoding="utf-8")
    done = cli("analyse", "chain.yaml")
    assert done.returncode == 1
    assert done.stderr == (
        "whence: log 'log': expected the chain to declare every column that it reads, since no "
        "log is read here; got 'amount', 'acton' undeclared; try amount: text, acton: text (or "
        "another kind) under columns of log in the chain file\n"
    )
    declared = UNDECLARED.replace("action: text", "action: text, amount: integer")
    (tmp_path / "chain.yaml").write_text(declared, encoding="utf-8")
    done = cli("analyse", "chain.yaml")
    assert "acton: text" in done.stderr
    assert done.stderr.endswith("in the chain file, or 'action' (did you mean that?)\n")
    mended = declared.replace("acton", "action")
    (tmp_path / "chain.yaml").write_text(mended, encoding="utf-8")
    assert cli("analyse", "chain.yaml").returncode == 0
    without = mended.replace(mended.partition("line:")[0], "")
    (tmp_path / "chain.yaml").write_text(without, encoding="utf-8")
    assert cli("analyse", "chain.yaml").returncode == 0, "nothing declared: whatever is there"
