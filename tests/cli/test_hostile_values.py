"""Values that steer terminals or spreadsheets: neither the one nor the other obeys them."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from tests.conftest import Cli
from whence.engine.values.printable import json_line, printable
from whence.engine.values.spreadsheet import defused

EVIL = [
    "\x1b]0;title\x07\x1b[2J",
    "\u202etxt.exe\u2066",
    "\x9b31m\x7f\x0b\x0c\x08",
    "[red]x[/red] [link=http://example.org]y[/link] :skull:",
    "=cmd|' /C calc'!A0",
    "@SUM(1)",
    "-2+3",
    "+1",
    "\tx",
]
CHAIN = "id: same\napply: what\n"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Every value, with a number beside it."""
    with (tmp_path / "log.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("what", "n"), *((each, -5) for each in EVIL)])
    (tmp_path / "same.yaml").write_text(CHAIN)
    (tmp_path / "number.yaml").write_text("id: same\napply: n\n")
    return tmp_path / "log.csv"


RUN = ("--log", "log.csv", "--runner", "interpreter", "--type", "what=text", "--type", "n=integer")


def steering(text: str) -> set[str]:
    """The characters of a text that must not reach a terminal."""
    return {
        sign
        for sign in text
        if (unicodedata.category(sign) == "Cc" and sign not in "\n\t")
        or sign in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    }


@pytest.mark.usefixtures("log")
def test_tables_and_messages_show_what_would_steer_the_terminal(cli: Cli) -> None:
    done = cli("run", "same.yaml", *RUN)
    assert steering(done.stdout + done.stderr) == set()
    assert r"\x1b]0;title\x07\x1b[2J" in done.stdout
    assert r"\u202etxt.exe\u2066" in done.stdout
    assert r"\x9b31m\x7f\x0b\x0c\x08" in done.stdout
    assert EVIL[3] in done.stdout  # neither markup nor emoji
    documents = [
        json.loads(line) for line in cli("run", "same.yaml", *RUN, "--json").stdout.splitlines()
    ]
    assert [each["value"] for each in documents[:-1]][:2] == EVIL[:2]
    assert steering(cli("run", "same.yaml", *RUN, "--json").stdout) == set()
    odd = cli(
        "run", "same.yaml", "--log", "log.csv", "--type", "what=integer", "--runner", "interpreter"
    )
    assert odd.returncode == 1
    assert steering(odd.stderr) == set()


@pytest.mark.usefixtures("log")
def test_names_of_files_and_processors_are_shown_too(cli: Cli, tmp_path: Path) -> None:
    name = "a\x1b[31m\u202e.yaml"
    (tmp_path / name).write_text(json.dumps({"id": "p\x1b[2J\x9b", "apply": "what + 1"}))
    for way in (("check", name), ("check", name, "--json"), ("draw", name), ("run", name, *RUN)):
        done = in_terminal(tmp_path, *way)
        assert steering(done.replace("\r\n", "\n")) <= {"\x1b"}
        assert "\x1b[2J" not in done
        assert "\x1b[31m\u202e" not in done


def in_terminal(folder: Path, *arguments: str) -> str:
    """What a command prints into a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "whence", "--no-color", *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "200"},
    )
    os.close(theirs)
    printed = b""
    while True:
        try:
            piece = os.read(ours, 65_536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        printed += piece
    os.close(ours)
    process.wait(60)
    return printed.decode("utf-8")


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize("way", [(), ("--csv",), ("--csv-raw",), ("--json",)])
def test_a_terminal_gets_none_of_it_however_it_is_printed(
    way: tuple[str, ...], tmp_path: Path
) -> None:
    printed = in_terminal(tmp_path, "run", "same.yaml", *RUN, *way).replace("\r\n", "\n")
    assert "\x1b]0;" not in printed
    assert "\x1b[2J" not in printed
    assert steering(printed) <= {"\x1b"}  # of the bold header


@pytest.mark.usefixtures("log")
def test_csv_for_people_is_defused_and_raw_csv_is_not(cli: Cli) -> None:
    def values(*way: str) -> list[str]:
        printed = cli("run", "same.yaml", *RUN, *way).stdout
        return [row["value"] for row in csv.DictReader(io.StringIO(printed, newline=""))]

    people, raw = values("--csv"), values("--csv-raw")
    assert raw == values("--csv-raw", "--csv") == EVIL
    assert people[:4] == EVIL[:4]
    assert people[4:7] == [f"'{each}" for each in EVIL[4:7]]
    assert people[7:] == ["+1", "'\tx"]
    numbers = cli("run", "number.yaml", *RUN, "--csv").stdout
    assert numbers.splitlines()[1] == "0,0,-5"


@pytest.mark.parametrize("begin", "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
def test_a_text_that_begins_like_a_formula_is_defused(begin: str) -> None:
    assert defused(f"{begin}A1") == f"'{begin}A1"
    assert defused(f"A1{begin}") == f"A1{begin}"


def test_every_control_character_is_shown_and_json_stays_what_it_is() -> None:
    every = "".join(map(chr, range(0x2100)))
    assert steering(printable(every)) == set()
    assert steering(json_line(every)) == set()
    assert json.loads(json_line(every)) == every
    assert printable("a\tb\nc \u00e9\u200f") == "a\tb\nc \u00e9\u200f"
    assert printable("\ud800") == r"\ud800"


def test_brackets_are_no_markup(cli: Cli, log: Path) -> None:
    # Least of all a link: a terminal shows its text, and opens another place.
    name, where = "[link=http:]l[red].csv", "[/red] [link=http://example.org]y[/link]"
    log.rename(log.with_name(name))
    run = ("run", "same.yaml", "--log", name, "--type", "what=text", "--runner", "local")
    done = cli(*run, "--record", "record", "--no-load")
    assert (done.returncode, name in done.stderr) == (0, True)
    manifest = next((log.parent / "record" / "runs").glob("*/manifest.json"))
    told = json.loads(manifest.read_text("utf-8"))
    told["options"]["where"] = where
    manifest.write_text(json.dumps(told), "utf-8")
    shown = in_terminal(log.parent, "runs", "show", "--record", "record")
    assert where in shown
    assert "\x1b]8;" not in shown
