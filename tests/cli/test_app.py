"""What holds for every command: flags anywhere, one-line errors, exit codes, quiet pipes."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
import typer

from tests.cli.test_manual import commands
from tests.conftest import Cli
from tests.ground.surroundings import ROOT
from whence.cli import app as root
from whence.cli.output import output
from whence.cli.resume_hints import RESUME_HINTS
from whence.engine.errors import StoreError

ADDED = """
import sys, types, typer
import whence.cli.app as root
module = types.ModuleType("whence.cli.extra")
module.app = typer.Typer(add_completion=False)
@module.app.command()
def extra() -> None:
    {body}
sys.modules["whence.cli.extra"] = module
root.COMMANDS = (*root.COMMANDS, "extra")
root.main()
"""


def with_command(body: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command line that has one more command, ``extra``, with this body."""
    return subprocess.run(
        [sys.executable, "-c", ADDED.format(body=body), "extra", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_version_is_printed_without_loading_any_command(cli: Cli) -> None:
    done = cli("--version")
    assert (done.returncode, done.stdout) == (0, f"whence {version('whence')}\n")
    check = (
        "import sys, whence.cli\n"
        "slow = {'pyspark', 'neo4j', 'pandas', 'starlette', 'whence.store', 'whence.cli.server'}\n"
        "assert not slow & set(sys.modules), slow & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", check], check=True, timeout=60)


def test_help_lists_every_command_with_a_sentence(cli: Cli) -> None:
    said = cli("--help").stdout
    for name in root.COMMANDS:
        line = next(line for line in said.splitlines() if line.startswith(f"│ {name} "))
        assert len(line.split(name, 1)[1].strip(" │")) > 10, line


def test_a_small_log_is_run_here_without_compiling_or_loading_spark(tmp_path: Path) -> None:
    """Each takes longer than such a run; Arrow would load pandas wherever it is installed."""
    (tmp_path / "chain.yaml").write_text(
        "{id: per-case, slice: {by: case, combine: and, of: {line: [{id: n, apply: n}, "
        "{id: sum, cumulate: add}, {id: two, window: {n: 2, of: {id: max, cumulate: max}}}, "
        "{id: few, apply: value < 9}]}}}"
    )
    (tmp_path / "log.csv").write_text("case,n\nx,1\ny,2\nx,3\nx,5\n")
    check = (
        "import sys\n"
        "sys.argv = ['whence', 'run', 'chain.yaml', '--log', 'log.csv', '--type', 'n=integer', "
        "'--runner', 'local', '--track', '--no-load']\n"
        "from whence.cli import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        "slow = {'numba', 'pandas', 'pyspark', 'neo4j', 'starlette', 'rdflib', 'prov'}\n"
        "assert not slow & set(sys.modules), slow & set(sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", check],
        cwd=tmp_path,
        env={**os.environ, "WHENCE_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "4 outputs" in done.stdout, done.stdout


def test_who_asks_for_pandas_later_gets_it() -> None:
    check = (
        "import sys\nimport pyarrow as pa\nfrom whence.cli.quick_start import leave_pandas_out\n"
        "leave_pandas_out()\nassert 'pandas' not in sys.modules\n"
        "frame = pa.table({'a': [1, None]}).to_pandas()\n"
        "assert frame['a'].isna().tolist() == [False, True]\n"
        "assert pa.Table.from_pandas(frame).num_rows == 2\n"
        "assert pa.array(frame['a']).null_count == 1"
    )
    done = subprocess.run(
        [sys.executable, "-c", check], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr


def test_loading_commands_for_help_loads_nothing_slow() -> None:
    check = (
        "import sys\nsys.argv = ['whence', '--help']\nfrom whence.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "slow = {'pyspark', 'neo4j', 'pandas', 'starlette', 'rdflib', 'prov'}\n"
        "assert not slow & set(sys.modules), slow & set(sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", check], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "arguments", [["--json", "server", "status"], ["server", "status", "--json"]]
)
def test_global_flags_stand_before_or_behind_the_command(cli: Cli, arguments: list[str]) -> None:
    done = cli(*arguments)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[\n")


@pytest.mark.parametrize("arguments", [["frob"], ["--frob"], ["server", "start", "--frob"], []])
def test_wrong_usage_has_exit_code_2(cli: Cli, arguments: list[str]) -> None:
    assert cli(*arguments).returncode == 2


def test_a_refusal_is_one_line_and_exit_code_1() -> None:
    body = "from whence.engine.errors import StoreError; raise StoreError('expected a [b]; got c')"
    done = with_command(body)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "whence: expected a [b]; got c\n"


def test_debug_shows_the_traceback_and_the_line() -> None:
    body = "from whence.engine.errors import StoreError; raise StoreError('expected b; got c')"
    done = with_command(body, "--debug")
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert done.stderr.endswith("whence: expected b; got c\n")


def test_an_unexpected_error_is_one_line_too() -> None:
    done = with_command("{}['lost']")
    assert done.returncode == 1
    assert done.stderr == "whence: unexpected KeyError: 'lost'; try again with --debug\n"
    assert "Traceback" in with_command("{}['lost']", "--debug").stderr


def test_an_interrupt_is_one_line_and_exit_code_130() -> None:
    body = f"import os; os.kill(os.getpid(), {int(signal.SIGINT)}); import time; time.sleep(9)"
    done = with_command(body)
    assert done.returncode == 130
    assert done.stderr == ("whence: interrupted; nothing was changed; re-run the same command\n")


def test_every_command_that_takes_long_says_how_to_go_on() -> None:
    known = {name for name, _ in commands()}
    assert [name for name in RESUME_HINTS if f"whence {name}" not in known] == []
    # Whatever shows progress may be interrupted: none of these is left without words.
    shows = {
        path.stem
        for path in (ROOT / "app/whence/cli").glob("*.py")
        if ".progress(" in path.read_text(encoding="utf-8")
    }
    spoken = {name.partition(" ")[0] for name in RESUME_HINTS}
    helpers = {"connecting", "demo_story", "run_interpreted", "run_plan", "run_recorded"}
    assert shows - helpers - {"output", "runs_removing"} - spoken == set()


def test_a_reader_that_goes_away_is_no_error() -> None:
    body = (
        "from whence.cli.output import output; output().result('x' * 10_000_000, 'x' * 10_000_000)"
    )
    for flag in ("--json", "--quiet"):
        command = [sys.executable, "-c", ADDED.format(body=body), "extra", flag]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.read(10)
            process.stdout.close()
            assert process.stderr.read() == b""


def test_quiet_says_results_only() -> None:
    body = "from whence.cli.output import output as o; o().message('words'); o().result(1, 'one')"
    loud, quiet = with_command(body), with_command(body, "-q")
    assert (loud.stdout, loud.stderr) == ("one\n", "words\n")
    assert (quiet.stdout, quiet.stderr) == ("one\n", "")


def test_progress_is_plain_lines_in_a_log_file() -> None:
    body = (
        "from whence.cli.output import output\n"
        "    from whence.engine.progress import Reporter\n"
        "    with output().progress() as bar:\n"
        "        go = Reporter(bar, 'running', 'bytes')\n"
        "        for n in range(101): go(n, 100, 'fetching')"
    )
    assert with_command(body).stderr.splitlines() == ["fetching: 0 %", "fetching: 100 %"]
    assert with_command(body, "--quiet").stderr == ""


def test_what_cannot_be_measured_is_said_once_in_a_log_file() -> None:
    body = (
        "from whence.cli.output import output\n"
        "    from whence.engine.progress import Reporter\n"
        "    with output().progress() as bar:\n"
        "        go = Reporter(bar, 'running', 'bytes')\n"
        "        for n in range(3): Reporter(bar, 'running', '')(0, 0, 'starting Spark')\n"
        "        Reporter(bar, 'running', 'events')(9, 9, 'running')"
    )
    assert with_command(body).stderr.splitlines() == ["starting Spark …", "running: 100 %"]
    assert with_command(body, "--quiet").stderr == ""


def test_each_thing_that_is_done_is_said_although_it_is_counted_alike() -> None:
    body = (
        "import whence.cli.output as o\n"
        "    o.LINE_EVERY_SECONDS = 0.0\n"
        "    from whence.engine.progress import Reporter\n"
        "    with o.output().progress() as bar:\n"
        "        go = Reporter(bar, 'running', 'parts')\n"
        "        for n in (3, 3): go(n, 3, 'loading, of what is written so far')\n"
        "        for n in (4, 9, 9): go(n, 9, 'loading')\n"
        "        for n in (1, 2): go(0, 0, f'counting, {n} of 2 parts read')"
    )
    assert with_command(body).stderr.splitlines() == [
        "loading, of what is written so far: 100 %",
        "loading: 44 %",
        "loading: 100 %",
        "counting, 1 of 2 parts read …",
        "counting, 2 of 2 parts read …",
    ]


def test_what_does_not_change_is_not_repeated_in_a_log_file() -> None:
    body = (
        "import time, whence.cli.output as o\n"
        "    o.LINE_EVERY_SECONDS, o.STILL_EVERY_SECONDS = 0.0, {still}\n"
        "    from whence.engine.progress import Reporter\n"
        "    with o.output().progress() as bar:\n"
        "        go = Reporter(bar, 'running', 'bytes')\n"
        "        for n in range(12): go(0, 0, 'looking up'); time.sleep(0.2)\n"
        "        for n in range(12): go(7, 100, 'fetching'); time.sleep(0.2)\n"
        "        for n in range(2): go(100, 100, 'fetching')"
    )
    said = with_command(body.format(still=60)).stderr.splitlines()
    assert said == ["looking up …", "fetching: 7 %", "fetching: 100 %"]
    # Who waits long is told that it goes on, and how long it has.
    said = with_command(body.format(still=1.9)).stderr.splitlines()
    assert said == [
        "looking up …",
        "looking up … (2 s so far)",
        "fetching: 7 %",
        "fetching: 7 % (2 s so far)",
        "fetching: 100 %",
    ]


def test_in_a_terminal_each_thing_that_goes_on_has_a_bar_of_its_own() -> None:
    import pty

    body = (
        "from whence.cli.output import output\n"
        "    from whence.engine.progress import Reporter\n"
        "    with output().progress() as bar:\n"
        "        go = Reporter(bar, 'running', 'bytes')\n"
        "        go(2_000_000, 4_000_000, 'reading x.csv')\n"
        "        Reporter(bar, 'running', '')(0, 0, 'starting Spark')\n"
        "        Reporter(bar, 'running', 'parts')(3, 9, 'loading')"
    )
    control, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", ADDED.format(body=body), "extra", "--no-color"],
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "120", "LINES": "40"},
        stdin=subprocess.DEVNULL,
        stdout=terminal,
        stderr=terminal,
    )
    os.close(terminal)
    said = ""
    with contextlib.suppress(OSError):  # how a terminal says that nobody writes to it any more
        while more := os.read(control, 65_536):
            said += more.decode(errors="replace")
    os.close(control)
    assert process.wait(60) == 0
    for told in ("reading x.csv", "2.0/4.0 MB", "starting Spark", "loading", "3/9 parts"):
        assert told in said, told


@pytest.mark.parametrize(("flag", "colored"), [((), True), (("--no-color",), False)])
def test_no_color_means_none(flag: tuple[str, ...], colored: bool, tmp_path: Path) -> None:
    import pty

    control, terminal = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "200"}
    environment.pop("NO_COLOR", None)
    subprocess.run(
        [sys.executable, "-m", "whence", "server", "remove", "--name", "../x", *flag],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=terminal,
        stderr=terminal,
        cwd=tmp_path,
        timeout=60,
        check=False,
    )
    said = os.read(control, 4096).decode()
    os.close(control)
    os.close(terminal)
    assert "expected an instance name" in said
    assert ("\x1b[31m" in said) is colored


def test_no_command_takes_a_global_flag_for_itself() -> None:
    group = typer.main.get_command(root.app)
    taken = []
    for name in root.COMMANDS:
        command = group.get_command(None, name)  # type: ignore[attr-defined]
        for each in [command, *getattr(command, "commands", {}).values()]:
            options = {word for parameter in each.params for word in parameter.opts}
            taken += [(name, word) for word in options & root.GLOBAL_FLAGS]
    assert taken == []


def test_errors_are_folded_into_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    output().error(str(StoreError("expected a\nbreak; got\n  two")))
    assert capsys.readouterr().err == "whence: expected a break; got two\n"
