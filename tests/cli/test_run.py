"""``whence run``: what a person and a program read, and that a failure leaves one line."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest

from tests.conftest import Cli

RUN = ("run", "--runner", "interpreter")
RULE = "{id: rule, formula: \"G (p < 0 -> X (action = 'a' and X action = 'a'))\"}"
LOG = "p,action\n1,b\n-1,b\n2,a\n1,c\n5,a\n"
Files = Callable[..., None]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """Write files, by name with _ for the dot, where the command runs."""

    def write(**contents: str) -> None:
        for name, content in contents.items():
            (tmp_path / name.replace("_", ".")).write_text(content, encoding="utf-8")

    return write


def test_a_person_sees_outputs_and_what_explains_them(cli: Cli, files: Files) -> None:
    files(chain_yaml=RULE, log_csv=LOG)
    done = cli(*RUN, "chain.yaml", "--log", "log.csv", "--type", "p=integer", "--track")
    assert done.returncode == 0, done.stderr
    assert [line.split() for line in done.stdout.splitlines()] == [
        ["position", "moment", "value", "explains"],
        ["0", "3", "false", "log@1.p;", "log@3.action"],
        ["1", "3", "false", "log@1.p;", "log@3.action"],
    ]
    assert done.stderr.splitlines() == [
        "2 outputs; pending verdicts: rule/X 1, rule/X-2 1, rule/G 1 (--closed decides them)"
    ]


def test_a_program_reads_a_line_per_output_and_how_it_ended(cli: Cli, files: Files) -> None:
    files(chain_yaml=RULE, log_csv=LOG)
    options = ("--type", "p=integer", "--track", "--support", "--json", "-q")
    done = cli(*RUN, "chain.yaml", "--log", "log.csv", *options)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    why = ["log@1.p", "log@3.action"]
    assert lines == [
        {"position": k, "moment": 3, "value": False, "explains": why, "supports": why}
        for k in (0, 1)
    ] + [{"end": {"outputs": 2, "shown": 2, "pending": {"rule/X": 1, "rule/X-2": 1, "rule/G": 1}}}]
    assert done.stderr == ""


def test_closing_gives_the_remaining_verdicts_as_csv(cli: Cli, files: Files) -> None:
    files(chain_yaml=RULE, log_csv=LOG)
    options = ("--type", "p=integer", "--closed", "--csv", "--limit", "3")
    done = cli(*RUN, "chain.yaml", "--log", "log.csv", *options)
    assert list(csv.DictReader(StringIO(done.stdout))) == [
        {"position": "0", "moment": "3", "value": "false"},
        {"position": "1", "moment": "3", "value": "false"},
        {"position": "2", "moment": "4", "value": "true"},
    ]
    assert done.stderr == "5 outputs, the first 3 shown\n"


def test_all_witnesses_are_listed(cli: Cli, files: Files) -> None:
    files(chain_yaml="{id: both, apply: x and y}", log_csv="x,y\nfalse,false\ntrue,true\n")
    types = ("--type", "x=boolean", "--type", "y=boolean")
    done = cli(*RUN, "chain.yaml", "--log", "log.csv", *types, "--witnesses", "all", "--json")
    first, second, _ = [json.loads(line) for line in done.stdout.splitlines()]
    assert first["explains"] == ["log@0.x"]
    assert first["alternatives"] == [["log@0"]]
    assert second["explains"] == ["log@1.x", "log@1.y"]
    assert first["more_alternatives"] is False


TWO = """
graph:
  inputs: [p, q]
  nodes:
    sum: {from: [p, q], is: {apply: $0.x + $1.x}}
    same: {from: [q], is: {passthrough: {}}}
"""


def test_several_logs_are_given_by_name_and_pipes_are_told_apart(cli: Cli, files: Files) -> None:
    files(chain_yaml=TWO, p_csv="x\n1\n2\n", q_csv="x\n10\n20\n")
    done = cli(
        *(*RUN, "chain.yaml", "--log", "q=q.csv", "--log", "p=p.csv"),
        *("--type", "x=integer", "--track", "--json"),
    )
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()[:-1]]
    assert [r for r in rows if r["pipe"] == "sum"] == [
        {
            "pipe": "sum",
            "position": k,
            "moment": k,
            "value": v,
            "explains": [f"p@{k}.x", f"q@{k}.x"],
        }
        for k, v in enumerate((11, 22))
    ]
    assert [r["value"] for r in rows if r["pipe"] == "same"] == [
        {"record": {"x": 10}},
        {"record": {"x": 20}},
    ]


def test_long_explanations_are_cut_for_people_only(cli: Cli, files: Files) -> None:
    chain = "line: [{id: x, apply: x}, {id: sum, cumulate: add}]"
    files(chain_yaml=chain, log_csv="x\n" + "1\n" * 20)
    arguments = (*RUN, "chain.yaml", "--log", "log.csv", "--type", "x=integer", "--track")
    assert "; ... 12 more\n" in cli(*arguments).stdout
    last = json.loads(cli(*arguments, "--json").stdout.splitlines()[-2])
    assert len(last["explains"]) == 20


POISON = """
line:
  - {id: mixed, apply: if i = 41 then text else i}
  - {id: total, cumulate: add}
"""
NUMBERED = "i,text\n" + "".join(f"{i},x\n" for i in range(60))

LOW, ALL, ONE = "{id: low, apply: p < 0}", "{id: all, apply: p}", "p\n1\n"
FAILURES: list[tuple[str, str, tuple[str, ...], str]] = [
    (POISON, NUMBERED, ("--type", "i=integer"),
     "total, position 41: expected a number; got text 'x'; try "),
    (LOW, ONE, (),
     "ApplyFunction 'low': expected two values of one kind; got number and text; "
     "try declaring the column's type, e.g. --type p=integer"),
    ("{id: low, apply: pirce < 0}", "price\n1\n", ("--type", "price=integer"),
     "ApplyFunction 'low': expected a field of the log; got 'pirce'; try 'price' (did you mean"),
    (LOW, "p\nx\n", ("--type", "p=integer"),
     "log.csv, row 1 (line 2), column 'p': expected an integer; got 'x'; try "),
    (LOW, ONE, ("--type", "q=integer"), "log.csv: expected a column 'q'; got no such column; try "),
    (LOW, ONE, ("--type", "p=int"), "log.csv, column 'p': a kind: expected one of text, integer"),
    ("{id: low, apply: p < }", ONE, (),
     "chain.yaml, line 1, column 18: formula, line 1, column 4: expected a value"),
    ("{id: low, aply: p}", ONE, (),
     "chain.yaml, line 1, column 11: a processor: expected a known tag; got 'aply'; try 'apply'"),
    (ALL, "p,p\n1,2\n", (), "log.csv: expected columns that differ; got 'p' twice"),
    (ALL, "p,q\n1\n", (), "log.csv, row 1 (line 2): expected 2 cells"),
    ("{logs: {log: {case: caze}}, id: low, apply: case}", "case\n1\n", (),
     "log.csv: expected the column 'caze', declared as case; got no such column; try 'case'"),
]  # fmt: skip


@pytest.mark.parametrize(("chain", "log", "options", "message"), FAILURES)
def test_a_failure_is_one_line_and_prints_no_output(
    cli: Cli, files: Files, chain: str, log: str, options: tuple[str, ...], message: str
) -> None:
    files(chain_yaml=chain, log_csv=log)
    done = cli(*RUN, "chain.yaml", "--log", "log.csv", *options)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("whence: " + message)
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("--log", "log.csv", "--runner", "flink"),
            "expected one of spark, local, interpreter; got 'flink'",
        ),
        (("--log", "log.csv", "--support"), "expected --runner interpreter with --support"),
        (
            ("--log", "log.csv", "--runner", "interpreter", "--where", "value = 1"),
            "expected a runner that leaves a record with --where; got the interpreter",
        ),
        ((), "expected a log; got none"),
        (("--log", "x=log.csv"), "expected one of log; got 'x'"),
        (("--log", "log.csv", "--log", "log.csv"), "expected each log once"),
        (("--log", "log.csv", "--type", "p"), "expected COLUMN=KIND; got 'p'"),
        (("--log", "log.csv", "--metadata", "p"), "expected WORD=TEXT; got 'p'"),
        (("--log", "log.csv", "--csv", "--json"), "expected one form of the answer; got --json"),
        (("--log", "log.csv", "--witnesses", "some"), "some"),
    ],
)
def test_wrong_usage_ends_with_two(
    cli: Cli, files: Files, arguments: tuple[str, ...], words: str
) -> None:
    files(chain_yaml="{id: low, apply: p}", log_csv="p\n1\n")
    done = cli("run", "chain.yaml", *arguments, env={"COLUMNS": "400"})
    assert done.returncode == 2
    assert done.stdout == ""
    assert words in done.stderr


def test_the_separator_and_the_encoding_can_be_told(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "chain.yaml").write_text("{id: name, apply: name}", encoding="utf-8")
    (tmp_path / "log.csv").write_bytes("name;p\nJosé;1\n".encode("latin-1"))
    arguments = (*RUN, "chain.yaml", "--log", "log.csv", "--delimiter", ";")
    refused = cli(*arguments)
    assert refused.returncode == 1
    assert "got byte 0xe9 at offset 10; try encoding latin-1" in refused.stderr
    done = cli(*arguments, "--encoding", "latin-1", "--csv", env={"PYTHONIOENCODING": "utf-8"})
    assert done.stdout == "position,moment,value\n0,0,José\n"


def test_the_local_runner_leaves_a_record(cli: Cli, files: Files, tmp_path: Path) -> None:
    files(chain_yaml=RULE, log_csv=LOG)
    options = ("--type", "p=integer", "--track", "--no-load", "--record", "record", "--json")
    stated = ("--metadata", "purpose=credit checks", "--metadata", "owner = Payments")
    done = cli("run", "chain.yaml", "--log", "log.csv", "--runner", "local", *options, *stated)
    assert done.returncode == 0, done.stderr
    *rows, last = map(json.loads, done.stdout.splitlines())
    assert [row["value"] for row in rows] == [False, False]
    told = last["end"]
    assert (told["outputs"], told["tracked"]) == (2, 2)
    assert told["pending"] == {"rule/X": 1, "rule/X-2": 1, "rule/G": 1}
    manifest = json.loads((tmp_path / told["record"] / "manifest.json").read_text())
    assert (manifest["runner"], manifest["status"]) == ("local", "complete")
    assert manifest["metadata"] == {"purpose": "credit checks", "owner": "Payments"}


def test_the_local_runner_leaves_alternatives_to_the_interpreter(cli: Cli, files: Files) -> None:
    files(chain_yaml=RULE, log_csv=LOG)
    options = ("--type", "p=integer", "--witnesses", "all", "--no-load", "--record", "record")
    done = cli("run", "chain.yaml", "--log", "log.csv", "--runner", "local", *options)
    assert done.returncode == 0, done.stderr
    assert "is only supported by the interpreter; using it" in done.stderr


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ("3443\n3443\n331\n", "n: 3,443 (2 times), 331 (1 time)"),
        ("1\n2\n3\n4\n", "n: 1 (1 time), 2 (1 time), 3 (1 time), 4 (1 time)"),
        ("1\n1\n2\n3\n4\n5\n", "n: 5 different values, most often 1 (2 times), 2 (1 time), 3"),
    ],
)
def test_values_and_how_often_each_was_given_cannot_be_mistaken_for_each_other(
    cli: Cli, files: Files, rows: str, line: str
) -> None:
    chain = "{logs: {log: {columns: {n: integer}}}, id: n, apply: n}"
    files(chain_yaml=chain, log_csv=f"n\n{rows}")
    done = cli("run", "chain.yaml", "--log", "log.csv", "--runner", "local", "--no-load")
    assert done.returncode == 0, done.stderr
    assert f"\n  {line}" in done.stdout
    assert f"log.csv: {rows.count(chr(10))} rows read, none dropped" in done.stderr


def test_one_of_something_is_not_spoken_of_as_several(cli: Cli, files: Files) -> None:
    chain = "{logs: {log: {columns: {n: integer}}}, id: n, apply: n}"
    files(chain_yaml=chain, log_csv="n\n7\n")
    done = cli("run", "chain.yaml", "--log", "log.csv", "--runner", "local", "--no-load")
    assert "1 output\n  n: 7 (1 time)\n" in done.stdout
    assert "log.csv: 1 row read, none dropped" in done.stderr
