"""``whence logs``: what a person and a program read of a log, and logs that are made."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from subprocess import CompletedProcess

import pytest
import yaml
from rich.console import Console
from typer.testing import CliRunner

from tests.conftest import Cli
from whence.cli.app import app
from whence.cli.inspection_view import view
from whence.engine.language.chain_file import load_chain
from whence.engine.sources import open_source
from whence.engine.sources.generate import payment_log, write_log
from whence.engine.sources.inspection import inspect_log

LOG = (
    "Case ID;Activity;When;amount\n"
    "A;register;21.03.2026 10:00;5\n"
    "A;pay;21.03.2026 10:00;\n"
    "NA;register;21.03.2026 09:00;7\n"
)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run ``whence`` in this process, which is much quicker than in one of its own."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, env: dict[str, str] | None = None) -> CompletedProcess[str]:
        done = CliRunner().invoke(app, arguments, env=env)
        return CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)

    return run


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "log.csv"
    file.write_text(LOG, encoding="utf-8")
    return file


def test_a_person_sees_what_is_in_a_log(cli: Cli, log: Path) -> None:
    done = cli("logs", "inspect", "log.csv", "--delimiter", ";", "--time", "When")
    assert done.returncode == 0, done.stderr
    assert [line.rstrip() for line in done.stdout.splitlines()] == [
        "log.csv (csv): 3 events, 2 cases, 2 activities",
        "time   2026-03-21T09:00:00Z to 2026-03-21T10:00:00Z",
        "order  1 neighbour out of time order, 0 of them in one case (--order time sorts)",
        "ties   1 neighbour at the same time, 1 of them in one case",
        "",
        "mapping   column    why",
        "case      Case ID   matched by name",
        "activity  Activity  matched by name",
        "time      When      stated",
        "",
        "column    kind  would read as            missing  distinct",
        "Case ID   text  -                              0         2",
        "Activity  text  -                              0         2",
        "When      text  instant(%d.%m.%Y %H:%M)        0         2",
        "amount    text  integer                        1         2",
        "",
        "first rows  row 1             row 2             row 3",
        "Case ID     A                 A                 NA",
        "Activity    register          pay               register",
        "When        21.03.2026 10:00  21.03.2026 10:00  21.03.2026 09:00",
        "amount      5                                   7",
    ]
    assert done.stderr == ""


def test_a_program_reads_the_same(here: Cli, log: Path) -> None:
    done = here("logs", "inspect", "log.csv", "--delimiter", ";", "--json", "--rows", "1")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["events"] == 3
    assert told["mapping"]["case"] == {"column": "Case ID", "why": "name", "others": []}
    assert "time" not in told["mapping"]
    assert told["columns"][3] == {
        "name": "amount",
        "kind": "text",
        "proposed": "integer",
        "ambiguous": [],
        "commas": False,
        "missing": 1,
        "distinct": 2,
    }
    assert len(told["first"]) == 1


def test_the_proposal_can_be_pasted_into_a_chain_file(here: Cli, log: Path, tmp_path: Path) -> None:
    arguments = ("logs", "inspect", "log.csv", "--delimiter", ";", "--time", "When", "--yaml")
    proposed = here(*arguments).stdout
    assert yaml.safe_load(proposed)["logs"]["log"]["columns"] == {
        "When": "instant(%d.%m.%Y %H:%M)",
        "amount": "integer",
    }
    (tmp_path / "chain.yaml").write_text(proposed + "id: large\napply: amount > 6\n")
    chain = load_chain(tmp_path / "chain.yaml")
    assert chain.logs["log"].delimiter == ";"
    assert here("check", "chain.yaml", "--log", "log.csv").returncode == 0


def test_a_date_that_can_be_read_in_two_ways_is_asked_for(here: Cli, tmp_path: Path) -> None:
    ways = [f"--type 'time=instant({form})'" for form in ("%d/%m/%Y", "%m/%d/%Y")]
    (tmp_path / "log.csv").write_text("case,time\nA,01/02/2026\nA,12/03/2026\n")
    shown = here("logs", "inspect", "log.csv")
    assert "time   day and month can be swapped; see below" in shown.stdout
    (question,) = [line for line in shown.stdout.splitlines() if line.startswith("time: ")]
    assert question == (
        f"time: instant(%d/%m/%Y) and instant(%m/%d/%Y) both fit; say which: {ways[0]} or {ways[1]}"
    )
    (column,) = json.loads(here("logs", "inspect", "log.csv", "--json").stdout)["columns"][1:]
    assert (column["proposed"], len(column["ambiguous"])) == (None, 2)
    pasted = here("logs", "inspect", "log.csv", "--yaml")
    assert "instant" not in pasted.stdout
    assert " ".join(pasted.stderr.split()) == question
    (tmp_path / "chain.yaml").write_text("id: late\napply: case = 'B'\n")
    run = ("run", "chain.yaml", "--log", "log.csv", "--runner", "interpreter")
    ordered = here(*run, "--order", "time")
    assert ordered.returncode == 1
    assert f"try {ways[0]} or {ways[1]}, whichever it is: both fit" in ordered.stderr
    typed = here(*run, "--type", "time=instant")
    assert (
        "row 1 (line 2), column 'time': expected an ISO 8601 instant; got '01/02/2026'; try the "
        "kind instant(%d/%m/%Y) or the kind instant(%m/%d/%Y), whichever it is: both fit"
    ) in typed.stderr


def test_a_later_row_that_contradicts_how_times_are_said_to_be_written_is_refused(
    here: Cli, tmp_path: Path
) -> None:
    (tmp_path / "log.csv").write_text("case,time\nA,01/02/2026\nA,13/02/2026\n")
    refused = here("logs", "inspect", "log.csv", "--type", "time=instant(%m/%d/%Y)")
    assert refused.returncode == 1
    assert "row 2 (line 3), column 'time': expected a time as %m/%d/%Y" in refused.stderr


def test_decimal_commas_are_noticed_and_read(here: Cli, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("case;sum;n;at\nA;1.234,56;1.000;1.5\nB;-7,5;12;2.5\n")
    found = here("logs", "inspect", "log.csv", "--delimiter", ";")
    assert "numbers have decimal commas; read them with --decimal ," in found.stdout
    options = ("--delimiter", ";", "--yaml")
    proposed = here("logs", "inspect", "log.csv", *options).stdout
    declared = yaml.safe_load(proposed)["logs"]["log"]
    assert declared["columns"] == {"sum": "float", "n": "integer"}
    assert declared["decimal"] == ","
    again = here("logs", "inspect", "log.csv", *options, "--decimal", ",")
    assert yaml.safe_load(again.stdout)["logs"]["log"] == declared
    (tmp_path / "chain.yaml").write_text(proposed + "id: all\napply: sum + n\n")
    run = ("run", "chain.yaml", "--log", "log.csv", "--runner", "interpreter", "--csv")
    assert here(*run).stdout.splitlines()[1:] == ["0,0,2234.56", "1,1,4.5"]
    refused = here(*run, "--decimal", ".")
    assert "column 'sum': expected a float; got '1.234,56'; try --decimal ','" in refused.stderr


def test_of_a_comma_that_may_stand_between_thousands_is_asked(here: Cli, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("case;sum\nA;1,234\nB;25\n")
    found = here("logs", "inspect", "log.csv", "--delimiter", ";", "--json")
    (column,) = json.loads(found.stdout)["columns"][1:]
    assert (column["proposed"], column["commas"]) == (None, True)
    shown = here("logs", "inspect", "log.csv", "--delimiter", ";").stdout
    assert "sum: a comma can be a decimal sign or separate thousands" in shown


def test_rows_that_do_not_fit_are_counted_and_shown_with_their_lines(here: Cli, log: Path) -> None:
    options = ("--delimiter", ";", "--type", "Case ID=integer")
    refused = here("logs", "inspect", "log.csv", *options)
    assert refused.returncode == 1
    assert refused.stdout == ""
    assert refused.stderr.startswith("whence: log.csv, row 1 (line 2), column 'Case ID': expected")
    assert refused.stderr.count("\n") == 1
    dropped = here("logs", "inspect", "log.csv", *options, "--on-bad", "drop")
    assert dropped.returncode == 0
    assert dropped.stderr.splitlines()[0] == "log.csv: 3 rows read, 3 dropped:"
    assert "row 3 (line 4), column 'Case ID'" in dropped.stderr
    kept = here("logs", "inspect", "log.csv", *options, "--on-bad", "keep", "--json")
    assert json.loads(kept.stdout)["columns"][0]["missing"] == 3
    assert kept.stderr.splitlines()[0] == "log.csv: 3 rows read, 3 values left empty:"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--type", "amount"), "expected COLUMN=KIND; got 'amount'; try amount=integer"),
        (("--log-limit", "events"), "expected NAME=N; got 'events'"),
        (("--log-limit", "events=many"), "expected a whole number; got 'many'"),
    ],
)
def test_wrong_usage_ends_with_two(
    here: Cli, log: Path, arguments: tuple[str, ...], words: str
) -> None:
    done = here("logs", "inspect", "log.csv", *arguments, env={"COLUMNS": "400"})
    assert done.returncode == 2
    assert words in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("lag.csv",), "expected lag.csv; got no such file; try log.csv (did you mean that?)"),
        (("log.csv",), "expected columns separated by ','; got one column"),
        (("table", "--log-format", "spark"), "expected a file or folder on the command line; got "),
        (("log.csv", "--delimiter", ";", "--case", "Case"), "expected the column 'Case', declared"),
        (("log.csv", "--delimiter", ";", "--log-limit", "evnts=5"), "expected one of unpacked, ev"),
        (("log.csv", "--delimiter", ";", "--log-limit", "events=2"), "try --log-limit events=4"),
        (("log.csv", "--delimiter", ";", "--on-bad", "skip"), "expected refuse or drop or keep"),
        (("log.csv", "--delimiter", ";", "--timezone", "Mars"), "expected a name such as Europe/"),
    ],
)
def test_what_cannot_be_read_is_one_line(
    here: Cli, log: Path, arguments: tuple[str, ...], words: str
) -> None:
    done = here("logs", "inspect", *arguments)
    assert done.returncode == 1
    assert done.stdout == ""
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("width", [80, 100])
def test_nothing_is_wider_than_the_terminal(width: int, tmp_path: Path) -> None:
    names = ["case", "activity", *(f"a column with quite a long name {n}" for n in range(30))]
    cells = ["A", "x" * 300, *["a value, also long, with\nline breaks"] * 30]
    rows = [names, cells, cells]
    quoted = ["\t".join(f'"{cell}"' for cell in row) for row in rows]
    (tmp_path / "log.tsv").write_text("\n".join(quoted))
    console = Console(width=width, record=True, file=StringIO())
    console.print(view(inspect_log(open_source(tmp_path / "log.tsv"), rows=5)))
    lines = console.export_text().splitlines()
    assert max(map(len, lines)) <= width
    assert any("a column with quite" in line for line in lines)


def test_a_log_is_made_and_its_faults_are_told(cli: Cli, tmp_path: Path) -> None:
    done = cli(
        *("logs", "generate", "--events", "500", "--seed", "3", "-o", "made.csv"),
        *("--plant", "unaudited=1", "--plant", "paid_twice=2", "--json"),
    )
    assert done.returncode == 0, done.stderr
    log = payment_log(500, 3, {"unaudited": 1, "paid_twice": 2})
    write_log(log, tmp_path / "same.csv")
    assert (tmp_path / "made.csv").read_bytes() == (tmp_path / "same.csv").read_bytes()
    told = json.loads(done.stdout)
    assert told["planted"] == {fault: list(cases) for fault, cases in log.planted.items()}
    assert told["events"] == log.table().num_rows


def test_a_person_reads_which_cases_are_at_fault(here: Cli) -> None:
    text = here("logs", "generate", "--events", "500", "-o", "made.xes.gz").stdout
    assert text.startswith("made.xes.gz: ")
    assert "unapproved (paid without an approval): P" in text


def test_a_log_that_cannot_be_made_is_one_line(here: Cli, tmp_path: Path) -> None:
    done = here("logs", "generate", "-o", "made.doc")
    assert done.returncode == 1
    assert done.stderr.startswith("whence: a log to write: expected a name that ends in one of")
    wrong = here("logs", "generate", "-o", "made.csv", "--plant", "unaudited=x")
    assert wrong.returncode == 2
    assert list(tmp_path.iterdir()) == []
