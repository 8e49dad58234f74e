"""``whence validate``, as it is called and as its pages tell it."""

from __future__ import annotations

import gzip
import json
import re
import shlex
from pathlib import Path

import pytest

from tests.conftest import Cli
from tests.exporters._support.recorded_runs import product_run
from tests.exporters.validating._support.documents_by_rule import CASES, document
from whence.exporters import save_run
from whence.exporters.validating import BEYOND, CONSTRAINTS

DOCS = Path(__file__).parents[3] / "docs"
HOW_TO = (DOCS / "how-to" / "validate-prov.md").read_text("utf-8")
REFERENCE = (DOCS / "reference" / "prov-constraints.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", HOW_TO, re.MULTILINE | re.DOTALL)


def test_the_page_shows_what_the_command_says(cli: Cli, tmp_path: Path) -> None:
    (loop,), (shown,) = blocks("provn"), blocks("text")
    (tmp_path / "loop.provn").write_text(loop, encoding="utf-8")
    done = cli("validate", "loop.provn")
    assert (done.returncode, done.stdout, done.stderr) == (1, shown, "")


def test_the_examples_run_on_an_export(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    record = product_run(tmp_path / "record")
    save_run(record.root, record.id, tmp_path / "run.json")
    (command,) = [line for block in blocks("sh") for line in block.splitlines()]
    done = cli(*shlex.split(command)[1:])
    assert done.returncode == 0
    assert re.fullmatch(r"run.json: valid \(prov-json, \d+ statements in 1 bundle\)\n", done.stdout)
    (example,) = blocks("python")
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "validate-prov.md", "exec"), {})
    assert re.fullmatch(r"True \d+ \{\}\n", capsys.readouterr().out)


def test_the_reference_lists_every_rule_and_no_other() -> None:
    rows = re.findall(r"^\| (C\d+) \| (.*) \| (.*) \|$", REFERENCE, re.MULTILINE)
    assert {number: (name, text) for number, name, text in rows} == CONSTRAINTS
    more = re.findall(r"^\| ([a-z]+) \| ([^|]*) \|$", REFERENCE, re.MULTILINE)
    assert dict(more[1:]) == BEYOND  # the first is the head of the table


def test_the_report_as_json_names_rule_and_statements(cli: Cli, tmp_path: Path) -> None:
    body = CASES["C24"][1][0]
    (tmp_path / "case.provn.gz").write_bytes(gzip.compress(document(body).encode()))
    done = cli("validate", "case.provn.gz", "--json")
    assert done.returncode == 1
    report = json.loads(done.stdout)
    assert report == {
        "file": "case.provn.gz",
        "valid": False,
        "standard": False,
        "format": "prov-n",
        "statements": 2,
        "bundles": 0,
        "counts": {"C24": 1},
        "violations": [
            {
                "rule": "C24",
                "name": "unique-generation",
                "also": [],
                "standard": True,
                "bundle": None,
                "message": "two statements about the same thing, but identifier differs",
                "statements": [
                    "wasGeneratedBy(ex:g1; ex:e, ex:a)",
                    "wasGeneratedBy(ex:g2; ex:e, ex:a)",
                ],
            }
        ],
        "unchecked": {},
    }


def test_the_standard_alone_leaves_out_the_rest(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "case.provn").write_text(document(CASES["clock"][1][0]), encoding="utf-8")
    done = cli("validate", "case.provn")
    assert done.returncode == 1
    assert "case.provn: valid by the standard, but not beyond it (prov-n, 2" in done.stdout
    done = cli("validate", "case.provn", "--standard")
    assert (done.returncode, done.stdout) == (0, "case.provn: valid (prov-n, 2 statements)\n")


def test_what_is_counted_and_not_shown_is_told(cli: Cli, tmp_path: Path) -> None:
    body = "\n".join(f"entity(ex:x{n}) activity(ex:x{n})" for n in range(1, 31))
    (tmp_path / "case.provn").write_text(document(body + " ex:more(ex:a)"), encoding="utf-8")
    done = cli("validate", "case.provn")
    assert done.stdout.endswith("\nC55: 10 more\n")
    assert done.stderr == "not checked: 1 of kind 'ex:more', which PROV-DM does not have\n"


@pytest.mark.parametrize("words", [["none.json"], ["."]])
def test_without_a_file_it_ends_with_one_line_and_1(words: list[str], cli: Cli) -> None:
    done = cli("validate", *words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "a PROV document: expected" in done.stderr


def test_wrong_usage_ends_with_2(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}", encoding="utf-8")
    assert cli("validate").returncode == 2
    assert cli("validate", "a.json", "--format", "xes").returncode == 2
