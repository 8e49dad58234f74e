"""A chain is a program only if the user says so: on the command line, and out of a record."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.conftest import Cli
from tests.exporters._support.recorded_runs import recorded
from whence.engine import ApplyFunction, Chain, Cumulate
from whence.engine.record import RunRecord
from whence.exporters import save_run
from whence.exporters.importing import import_runs

MODULE = """
from pathlib import Path

Path(__file__).with_name("imported").touch()

def double(x):
    return 2 * x

def add(x, y):
    return x + y
"""
CHAIN = "line: [{id: twice, apply: 'mypackage.tools:double(p)'}, {id: sum, cumulate: add}]\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as it is cloned: a package, a chain that calls it, a log."""
    package = tmp_path / "mypackage"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "tools.py").write_text(MODULE)
    (tmp_path / "chain.yaml").write_text(CHAIN)
    (tmp_path / "log.csv").write_text("p\n1\n2\n3\n")
    return tmp_path


def imported(folder: Path) -> bool:
    return (folder / "mypackage" / "imported").exists()


RUN = ("run", "chain.yaml", "--log", "log.csv", "--type", "p=integer")
LOCAL = (*RUN, "--runner", "local", "--record", "record")


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("check", "os:system"),
        ("analyse", "builtins:eval"),
        ("check", "mypackage.tools:Path.unlink"),
        ("run", "subprocess:getoutput"),
    ],
)
def test_pythons_own_is_refused_by_name(cli: Cli, folder: Path, command: str, path: str) -> None:
    (folder / "evil.yaml").write_text(f"id: a\napply: \"{path}('touch caught')\"\n")
    more = ("--log", "log.csv", "--runner", "local") if command == "run" else ()
    done = cli(command, "evil.yaml", *more, "--allow", "mypackage")
    assert (done.returncode, done.stdout) == (1, "")
    assert f"expected a function of your own; got {path!r}" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (folder / "caught").exists()


def test_nothing_is_imported_that_is_not_allowed(cli: Cli, folder: Path) -> None:
    for words in (("check", "chain.yaml"), ("analyse", "chain.yaml", "--allow", "my"), LOCAL):
        done = cli(*words)
        assert (done.returncode, done.stdout) == (1, ""), words
        assert "got 'mypackage.tools:double'; try --allow mypackage " in done.stderr
    drawn = cli("draw", "chain.yaml")
    assert drawn.returncode == 0
    assert "mypackage.tools:double" in drawn.stdout
    assert not imported(folder)
    allowed = cli("--json", "check", "chain.yaml", "--allow", "mypackage")
    assert allowed.returncode == 0
    assert imported(folder)


def test_the_standard_library_cannot_be_allowed(cli: Cli, folder: Path) -> None:
    done = cli("check", "chain.yaml", "--allow", "os")
    assert done.returncode == 1
    assert "standard library, which no chain may call" in done.stderr


def test_the_users_own_configuration_allows_modules(cli: Cli, folder: Path) -> None:
    own = folder / "own.toml"
    own.write_text("allow = ['mypackage']\n")
    done = cli("check", "chain.yaml", env={"WHENCE_CONFIG": str(own)})
    assert done.returncode == 0
    assert imported(folder)


def test_a_folders_file_allows_modules_once_it_is_trusted(cli: Cli, folder: Path) -> None:
    home = {"WHENCE_HOME": str(folder / "home")}
    (folder / "whence.toml").write_text("allow = ['mypackage']\n")
    before = cli("check", "chain.yaml", env=home)
    assert before.returncode == 1
    assert "whence.toml is not trusted: its allow ignored; try whence trust" in before.stderr
    assert not imported(folder)
    assert cli("trust", "--yes", env=home).returncode == 0
    assert cli("check", "chain.yaml", env=home).returncode == 0
    assert imported(folder)
    (folder / "whence.toml").write_text("allow = ['mypackage', 'other']\n")
    assert cli("check", "chain.yaml", env=home).returncode == 1


def test_a_record_is_run_again_only_with_what_is_allowed(cli: Cli, folder: Path) -> None:
    done = cli("--json", *LOCAL, "--track", "--no-load", "--allow", "mypackage")
    assert done.returncode == 0, done.stderr
    # The record goes to somebody else, whose files are then that user's own.
    shutil.copytree(folder / "record", folder / "other")
    (folder / "mypackage" / "imported").unlink()
    here = ("--record", "other")
    asked = {
        "what-if": ("what-if", "latest", "--set", "1.p=7", *here),
        "draw": ("draw", "--run", "latest", "--explain", "2", *here),
    }
    for words in asked.values():
        refused = cli(*words)
        assert (refused.returncode, refused.stdout) == (1, "")
        assert "got 'mypackage.tools:double'; try --allow mypackage " in refused.stderr
        assert len(refused.stderr.splitlines()) == 1
    shown = cli("draw", "--run", "latest", *here)
    assert shown.returncode == 0
    assert "mypackage.tools:double" in shown.stdout
    assert not imported(folder)
    for words in asked.values():
        allowed = cli(*words, "--allow", "mypackage")
        assert (allowed.returncode, "sum" in allowed.stdout) == (0, True), allowed.stderr
    assert imported(folder)


def test_a_condition_on_the_command_line_runs_nothing(cli: Cli, folder: Path) -> None:
    (folder / "plain.yaml").write_text("id: same\napply: p\n")
    words = ("run", "plain.yaml", "--log", "log.csv", "--runner", "local", "--record", "record")
    for condition in ("os:system('touch caught') = 0", "mypackage.tools:double(value) = 2"):
        done = cli(*words, "--track", "--no-load", "--allow", "mypackage", "--where", condition)
        assert done.returncode == 1
        assert "expected no function but Whence's own" in done.stderr
    assert not (folder / "caught").exists()
    assert not imported(folder)


def hostile_import(folder: Path) -> tuple[RunRecord, Path]:
    """A run that was exported, whose file then calls the shell; and the file that would be made."""
    caught = folder / "caught"
    chain = Chain.of(ApplyFunction("a", "tests.engine.own_functions:length(command)"))
    record = recorded(
        folder / "record",
        chain | Cumulate("sum", "add"),
        {"log": [{"command": f"touch {caught}"}, {"command": f"touch {caught}  "}]},
    )
    save_run(record.root, record.id, folder / "run.json", values=True)
    text = (folder / "run.json").read_text("utf-8")
    assert "tests.engine.own_functions:length" in text
    (folder / "evil.json").write_text(
        text.replace("tests.engine.own_functions:length", "os:system"), "utf-8"
    )
    return record, caught


def test_an_imported_run_calls_no_shell(cli: Cli, folder: Path) -> None:
    record, caught = hostile_import(folder)
    here = ("--record", "imported")
    import_runs(folder / "evil.json", folder / "imported")
    again = RunRecord(folder / "imported", record.id)
    assert "os:system" in json.dumps(again.manifest.chain)
    for words in (
        ("what-if", record.id, "--set", "0.command=true"),
        ("what-if", record.id, "--set", "0.command=true", "--allow", "os"),
        ("draw", "--run", record.id, "--explain", "1", "--allow", "tests"),
    ):
        done = cli(*words, *here)
        assert (done.returncode, done.stdout) == (1, "")
        assert "standard library" in done.stderr
        assert len(done.stderr.splitlines()) == 1
    assert cli("draw", "--run", record.id, *here).returncode == 0
    assert not caught.exists()
