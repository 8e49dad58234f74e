"""Every command answers in the form that ``--format`` names, or refuses it in one line."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.cli.test_manual import commands
from whence.cli.app import app
from whence.store import Connection
from whence.store.server import Status

pytestmark = pytest.mark.neo4j

CHAIN = "{id: big, apply: p > 2}\n"
LOG = "p,note\n1,=1+1\n3,+2\n4,@x\n"

ANSWERS: dict[str, tuple[str, ...]] = {
    "run": (
        "chain.yaml",
        "--log",
        "log.csv",
        "--type",
        "p=integer",
        "--runner",
        "local",
        "--track",
    ),
    "check": ("chain.yaml", "--log", "log.csv", "--type", "p=integer"),
    "analyse": ("chain.yaml",),
    "logs inspect": ("log.csv",),
    "logs generate": ("-o", "made.csv", "--events", "200"),
    "runs list": (),
    "runs show": ("latest",),
    "runs verify": ("latest",),
    "runs hold": ("latest", "--reason", "case 12"),
    "runs release": ("latest",),
    "runs prune": ("--older-than", "900d", "--dry-run"),
    "runs remove": ("latest", "--only", "graph", "--yes"),
    "load": ("latest",),
    "store check": (),
    "store stats": (),
    "explain": ("latest", "1"),
    "never-matters": ("latest",),
    "impact": ("latest", "--inputs", "1"),
    "contribution": ("latest",),
    "search": ("latest", "--inputs", "0-2"),
    "ask": ("MATCH (r:Run) RETURN r.id AS id",),
    "what-if": ("latest", "--set", "log@1.p=0"),
    "compare": ("latest", "latest"),
    "trace": ("log@1",),
    "export": ("latest", "-o", "run.json", "--format", "prov-json"),
    "validate": ("run.json",),
    "keys create": ("--folder", "keys"),
    "evidence create": (
        *("--run", "latest", "--question", "1", "-o", "pack.zip"),
        *("--key", "keys/default.key"),
    ),
    "evidence verify": ("pack.zip",),
    "erase": ("--events", "0", "--dry-run"),
    "import": ("run.json", "--record", "imported"),
    "trust": ("--list",),
    "journal": (),
    "server status": (),
    "server stop": ("--name", "none-such"),
    "server logs": ("--name", "shared"),
    "server remove": ("--name", "none-such", "--yes"),
    "doctor": (),
}
"""A command, and words with which it answers."""

NOT_HERE = {
    "draw": "has its own test below",
    "demo": "has its own test below",
    "web": "serves until it is stopped; tests/web",
    "web link": "needs the page; tests/web",
    "server start": "starts a server; tests/store/server",
    "store rebuild": "needs a server of its own; tests/store/care",
    "store dump": "needs a server of its own; tests/store/care",
    "store restore": "needs a server of its own; tests/store/care",
}
"""Why a command has no row above."""

MAY_FAIL = {"doctor": 1, "evidence verify": 3}
"""Exit codes of an answer: a machine without Spark, a signer that is not named."""

Whence = Callable[..., Result]


@pytest.fixture
def whence(
    graph: Connection, neo4j_server: Status, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Whence:
    """A folder with a log and a recorded, loaded run, and the command line in it."""
    monkeypatch.chdir(tmp_path)
    Path("chain.yaml").write_text(CHAIN)
    Path("log.csv").write_text(LOG)
    environment = {
        "NEO4J_URI": neo4j_server.settings().uri,
        "NEO4J_PASSWORD_FILE": str(neo4j_server.home / "password"),
        "WHENCE_RECORD": str(tmp_path / "record"),
    }

    def call(*words: str) -> Result:
        return CliRunner(env=environment).invoke(app, [*words])

    done = call("run", *ANSWERS["run"])
    assert done.exit_code == 0, done.stderr
    return call


def test_every_command_is_tried_or_has_a_reason() -> None:
    leaves = {
        name.removeprefix("whence ")
        for name, command in commands()
        if name != "whence" and not (getattr(command, "commands", {}) and name != "whence web")
    }
    assert leaves == {*ANSWERS, *NOT_HERE}


@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_every_command_answers_in_every_form(whence: Whence, form: str) -> None:
    for number, (name, words) in enumerate(ANSWERS.items()):
        chosen = ("--format", form)
        spoken = (*name.split(), *words)
        # In front of the command or behind it.
        done = whence(*chosen, *spoken) if number % 2 else whence(*spoken, *chosen)
        assert done.exit_code in (0, MAY_FAIL.get(name)), (name, done.stderr)
        assert "Traceback" not in done.stderr, name
        if form == "json":
            documents = done.stdout.splitlines() if name == "run" else [done.stdout]
            assert [json.loads(each) for each in documents], name
        elif form == "csv":
            head, *rows = csv.reader(io.StringIO(done.stdout))
            assert all(len(row) == len(head) for row in rows), (name, done.stdout)
            assert len(set(head)) == len(head), name
        else:
            assert done.stdout.strip(), name
            assert not done.stdout.startswith(("{", "[")), name


def test_the_short_forms_are_the_same(whence: Whence) -> None:
    for name in ("runs list", "explain", "what-if", "check", "doctor"):
        spoken = (*name.split(), *ANSWERS[name])
        for short, form in (("--json", "json"), ("--csv", "csv")):
            one, other = whence(*spoken, short), whence(*spoken, "--format", form)
            assert one.stdout == other.stdout, name


def test_a_text_in_csv_is_no_formula_unless_it_is_asked_for(whence: Whence) -> None:
    spoken = ("ask", "UNWIND ['=1+1', '+a', '-a', '@x', 'a'] AS text RETURN text")
    guarded = "text\n'=1+1\n'+a\n'-a\n'@x\na\n"
    for form in (("--format", "csv"), ("--csv",), ("--format=csv",)):
        assert whence(*spoken, *form).stdout.replace("\r", "") == guarded
    for raw in (("--csv-raw",), ("--csv", "--csv-raw"), ("--format", "csv", "--csv-raw")):
        assert whence(*spoken, *raw).stdout.replace("\r", "") == guarded.replace("'", "")
    held = whence("runs", "hold", "latest", "--reason", "=HYPERLINK(1)", "--format", "csv")
    assert ",'=HYPERLINK(1)" in held.stdout


def test_a_drawing_is_a_text_or_json(whence: Whence) -> None:
    assert whence("draw", "chain.yaml", "--format", "dot").stdout.startswith("digraph")
    found = json.loads(whence("draw", "chain.yaml", "--format", "dot", "--format", "json").stdout)
    assert found["format"] == "dot"
    assert found["drawing"].startswith("digraph")
    written = whence("--format", "json", "draw", "chain.yaml", "-o", "chain.svg")
    assert json.loads(written.stdout) == {"file": "chain.svg"}


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("draw", "chain.yaml", "--csv", "-o", "x.svg"), 1, "expected table or json; got csv; try"),
        (("demo", "--folder", "x.svg", "--json"), 1, "--format: expected table; got json; try"),
        (("explain", "latest", "1", "--words", "--csv"), 1, "expected table or json; got csv; try"),
        (("runs", "list", "--format", "yaml"), 2, "expected one of table, json, csv; got 'yaml'"),
        (("run", "chain.yaml", "--format", "xes"), 2, "or --log-format for the format of a log"),
        (("runs", "list", "--json", "--csv"), 2, "expected one form of the answer; got --json and"),
        (("runs", "list", "--csv", "--format", "table"), 2, "got --format table and --csv; try"),
        (("runs", "list", "--format"), 2, "expected one of table, json, csv; got ''"),
    ],
)
def test_a_form_that_there_is_not_is_refused_before_anything_is_done(
    whence: Whence, words: tuple[str, ...], code: int, message: str
) -> None:
    done = whence(*words)
    assert done.exit_code == code
    assert done.stdout == ""
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert not Path("x.svg").exists()


def test_errors_stay_on_standard_error(whence: Whence) -> None:
    for form in ("table", "json", "csv"):
        done = whence("explain", "latest", "99", "--quiet", "--format", form)
        assert (done.exit_code, done.stdout) == (1, "")
        assert done.stderr.startswith("whence: ")
        assert done.stderr.count("\n") == 1
