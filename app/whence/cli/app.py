"""The root of the command line: global options, lazy commands, errors as one line."""

from __future__ import annotations

import importlib
import os
import stat
import sys
import traceback
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from whence.cli.examples import add_global_options
from whence.cli.forms import FORMS, GLOBAL_FLAGS, form_of, global_first, only_own
from whence.cli.output import Output, output, showing_warnings, use_output
from whence.cli.quick_start import leave_pandas_out
from whence.cli.resume_hints import resume_hint
from whence.engine.disk import disk_error
from whence.engine.errors import WhenceError
from whence.questions import ASKING, NOTED

__all__ = [
    "COMMANDS",
    "GLOBAL_FLAGS",
    "JOURNALED",
    "LEFT",
    "WORDS",
    "Commands",
    "app",
    "main",
]

COMMANDS = (
    "demo",
    "run",
    "check",
    "analyse",
    "draw",
    "logs",
    "runs",
    "load",
    *ASKING,
    "export",
    "import",
    "validate",
    "evidence",
    "erase",
    "keys",
    "journal",
    "web",
    "store",
    "server",
    "trust",
    "doctor",
)
"""Every command in the order of ``--help``; each is the module ``whence.cli.NAME``."""

_PANELS = {
    **dict.fromkeys(("demo", "run", "check", "analyse", "draw", "logs", "runs", "load"), "Run"),
    **dict.fromkeys(ASKING, "Ask"),
    **dict.fromkeys(("export", "import", "validate"), "Exchange as W3C PROV"),
    **dict.fromkeys(("evidence", "erase", "keys", "journal"), "Prove and erase"),
    **dict.fromkeys(("web", "store", "server", "trust", "doctor"), "Page, graph, machine"),
}
"""Under which heading ``--help`` lists a command."""

JOURNALED = NOTED | {"export", "import", "evidence", "erase"}
"""Commands that the journal names, once they have succeeded."""

_TELLING = frozenset({"run", "logs", "runs"})
"""Commands that show what a record holds: the journal names them if that goes into a file."""

LEFT = 4
"""The exit code of a command that was done but for a rest, which it names."""

WORDS = "whence.words"
"""Key of the context for the words of the command, as the journal will record them."""


class Commands(TyperGroup):
    """Load a command's module when it is asked for; end every failure with one line."""

    # The contexts are `Any`: some releases of typer carry a click of their own, others import it.
    def list_commands(self, ctx: Any) -> list[str]:
        """Name the commands without loading them."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"whence.cli.{cmd_name.replace('-', '_')}")
        command: Any = typer.main.get_command(module.app)
        command.name = cmd_name
        command.rich_help_panel = _PANELS.get(cmd_name)
        add_global_options(command)
        return command

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Accept the global flags anywhere before ``--``."""
        ctx.meta[WORDS] = only_own(args, COMMANDS)
        return super().parse_args(ctx, global_first(args, COMMANDS))

    def invoke(self, ctx: Any) -> Any:
        """Run the command; a refusal becomes one line and exit code 1."""
        try:
            with showing_warnings():
                done = super().invoke(ctx)
            _note(ctx.meta.get(WORDS, []))
            return done
        except typer.Exit as ending:
            if ending.exit_code == LEFT:  # which was done but for a rest
                _note(ctx.meta.get(WORDS, []))
            raise
        except WhenceError as error:
            if output().debug:
                output().status(traceback.format_exc())
            output().error(str(error))
            raise typer.Exit(1) from error
        except OSError as error:
            # Other errors of the system than those of a disk are not foreseen.
            found = disk_error(error)
            if found is None:
                raise
            if output().debug:
                output().status(traceback.format_exc())
            output().error(str(found))
            raise typer.Exit(1) from error
        except KeyboardInterrupt as interrupt:
            output().error(f"interrupted; {resume_hint(ctx.meta.get(WORDS, []))}")
            raise typer.Exit(130) from interrupt


def _is_noted(words: list[str], into: str | None) -> bool:
    """Whether the journal names a command; offline checks are not journaled."""
    if not words or words[1:2] == ["verify"]:
        return False
    if words[0] in JOURNALED or words[:2] in (["runs", "hold"], ["runs", "release"]):
        return True
    if words[0] == "draw":  # drawing a chain file reads no record
        return any(word.partition("=")[0] == "--run" for word in words)
    return into is not None and words[0] in _TELLING


def _into() -> str | None:
    """The file that is printed into, if it is one: what it holds is then where no erasure comes."""
    try:
        handle = sys.stdout.fileno()
        told = os.fstat(handle)
        if not stat.S_ISREG(told.st_mode) or not told.st_nlink:
            return None
        return os.readlink(f"/proc/self/fd/{handle}")
    except (OSError, ValueError, AttributeError):
        return None


def _note(words: list[str]) -> None:
    """Write what was done into the journal of the record."""
    into = _into()
    if not _is_noted(words, into):
        return
    from whence.engine.record import latest_run, record_place
    from whence.store.journal import REDIRECTED, note

    words = words if into is None else [*words, REDIRECTED, into]
    given = [words[n + 1] for n, word in enumerate(words[:-1]) if word == "--record"]
    given += [word.partition("=")[2] for word in words if word.startswith("--record=")]
    try:
        root = record_place(given[-1] if given else None)
        latest = latest_run(root) if "latest" in words else None
        note(root, words, latest=latest)
    except WhenceError as error:
        output().message(f"not in the journal: {error}")


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Options may also follow the command: whence runs list --format json.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"whence {version('whence')}")
        raise typer.Exit


@app.callback()
def whence(
    format: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="|".join(FORMS), help="Form of the answer; table by default."
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Short for --format json.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Short for --format csv.")] = False,
    csv_raw: Annotated[
        bool,
        typer.Option("--csv-raw", help="Print CSV without an apostrophe before = + - @."),
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print results and errors only.")
    ] = False,
    no_color: Annotated[bool, typer.Option("--no-color", help="Print without colours.")] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error as well.")
    ] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Why did my pipeline say that? Ask which events of a log explain a result."""
    if no_color:
        # Help and usage texts are drawn by typer, which only knows the environment variable.
        os.environ["NO_COLOR"] = "1"
    form = form_of(format, {"--json": json, "--csv": csv, "--csv-raw": csv_raw})
    use_output(Output(form, quiet, not no_color, debug, csv_raw))


def main() -> None:
    """Run the command line and leave the process with its exit code."""
    if set(sys.argv[1:]).intersection(COMMANDS) and not {"--help", "-h"}.intersection(sys.argv):
        leave_pandas_out()
    try:
        app(prog_name="whence")
    except Exception as error:
        if output().debug:
            output().status(traceback.format_exc())
        output().error(f"unexpected {type(error).__name__}: {error}; try again with --debug")
        sys.exit(1)
