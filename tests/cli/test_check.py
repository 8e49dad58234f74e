from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import Cli
from whence.engine.language.chain_file import load_chain

CHAIN = """
logs:
  log: {columns: {p: integer}}
graph:
  inputs: [log]
  nodes:
    low: {from: log, is: {formula: F (p < 0)}}
    kept: {from: [log], is: {filter: {where: who is not missing}}}
    three: {from: kept, is: {window: {n: 3, of: {id: p, apply: p}}}}
"""


def test_a_chain_is_described(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "chain.yaml").write_text(CHAIN)
    done = cli("check", "chain.yaml", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    rows = {row["processor"]: list(row.values())[1:] for row in told["processors"]}
    assert rows == {
        "low": ["Group", "log", "boolean", "no"],
        "low/p-lt-0": ["ApplyFunction", "log", "boolean", "yes"],
        "low/F": ["F", "p-lt-0", "boolean", "no"],
        "kept": ["Filter", "log", "record", "no"],
        "three": ["Window", "kept", "integer", "no"],
        "three/p": ["ApplyFunction", None, None, None],
    }
    assert told["inputs"] == ["log"]
    assert told["outputs"] == ["low", "three"]
    assert told["closes"] is True
    assert told["digest"] == load_chain(tmp_path / "chain.yaml").digest
    table = cli("check", "chain.yaml")
    assert table.stdout.splitlines()[0].split() == [
        *("processor", "type", "reads", "gives", "regular")
    ]
    assert told["digest"] in table.stderr


def test_undeclared_columns_may_be_there_until_a_log_says_otherwise(
    cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "chain.yaml").write_text(CHAIN)
    (tmp_path / "log.csv").write_text("p,whom\n")
    done = cli("check", "chain.yaml", "--log", "log.csv")
    assert done.returncode == 1
    assert done.stderr == (
        "whence: Filter 'kept': expected a field of the log; got 'who'; "
        "try 'whom' (did you mean that?)\n"
    )
    (tmp_path / "log.csv").write_text("p,who\n")
    done = cli("check", "chain.yaml", "--log", "log.csv")
    assert done.returncode == 0
    assert done.stderr.endswith("log.csv: ok, all required columns are present\n")


def test_kinds_that_never_fit_are_found_without_a_log(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "chain.yaml").write_text(CHAIN.replace("integer", "text"))
    done = cli("check", "chain.yaml")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == (
        "whence: Group 'low': ApplyFunction 'p-lt-0': "
        "expected two values of one kind; got number and text; "
        "try declaring the column's type, e.g. --type p=integer\n"
    )


def test_what_is_wrong_is_one_line_with_its_place(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "chain.yaml").write_text(CHAIN.replace("from: kept", "from: kpt"))
    done = cli("check", "chain.yaml")
    assert done.returncode == 1
    assert done.stderr == (
        "whence: chain.yaml, line 9, column 12: Window 'three': expected a known name to read; "
        "got 'kpt'; try 'kept' (did you mean that?)\n"
    )


def test_a_type_without_a_log_is_wrong_usage(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "chain.yaml").write_text(CHAIN)
    done = cli("check", "chain.yaml", "--type", "p=integer")
    assert done.returncode == 2
