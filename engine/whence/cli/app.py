"""The root of the command line: global options, lazy commands, errors as one line."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from importlib.metadata import version
from typing import Annotated, Any

import typer
from rich.markup import escape
from typer.core import TyperGroup

from whence.cli.going_on import going_on
from whence.cli.output import Output, output, use_output
from whence.cli.quick_start import leave_pandas_out
from whence.engine.errors import WhenceError

__all__ = ["COMMANDS", "GLOBAL_FLAGS", "JOURNALED", "WORDS", "Commands", "app", "main"]

COMMANDS = (
    "demo",
    "run",
    "check",
    "analyse",
    "draw",
    "logs",
    "runs",
    "load",
    "store",
    "explain",
    "never-matters",
    "impact",
    "contribution",
    "search",
    "ask",
    "what-if",
    "compare",
    "trace",
    "export",
    "import",
    "validate",
    "evidence",
    "erase",
    "keys",
    "journal",
    "web",
    "server",
    "doctor",
)
"""Every command in the order of ``--help``; each is the module ``whence.cli.NAME``."""

JOURNALED = frozenset(
    {
        *("explain", "never-matters", "impact", "contribution", "compare", "trace", "what-if"),
        *("search", "ask", "export", "import", "evidence", "erase"),
    }
)
"""Commands that the journal names, once they have done what they were asked."""

GLOBAL_FLAGS = frozenset({"--json", "--quiet", "-q", "--no-color", "--debug"})
"""Flags of ``whence`` itself, which may also stand behind a command."""

WORDS = "whence.words"
"""Where the context has the words of the command, as the journal will tell them."""


class Commands(TyperGroup):
    """Load a command's module when it is asked for; end every failure with one line."""

    # The contexts are `Any`: some releases of typer carry a click of their own, others import it.
    def list_commands(self, ctx: Any) -> list[str]:
        """Name the commands without loading them."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Load one command."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"whence.cli.{cmd_name.replace('-', '_')}")
        command = typer.main.get_command(module.app)
        command.name = cmd_name
        return command

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Accept the global flags anywhere before ``--``."""
        ctx.meta[WORDS] = [word for word in args if word not in GLOBAL_FLAGS]
        return super().parse_args(ctx, flags_first(args))

    def invoke(self, ctx: Any) -> Any:
        """Run the command; a refusal becomes one line and exit code 1."""
        try:
            done = super().invoke(ctx)
            _note(ctx.meta.get(WORDS, []))
            return done
        except WhenceError as error:
            if output().debug:
                traceback.print_exc()
            output().error(str(error))
            raise typer.Exit(1) from error
        except KeyboardInterrupt as interrupt:
            output().error(f"interrupted; {going_on(ctx.meta.get(WORDS, []))}")
            raise typer.Exit(130) from interrupt


def _note(words: list[str]) -> None:
    """Write what was done into the journal of the record; offline checks are nobody's business."""
    held = words[:2] in (["runs", "hold"], ["runs", "release"])
    if not held and (not words or words[0] not in JOURNALED or words[1:2] == ["verify"]):
        return
    from whence.engine.record import list_runs, record_place
    from whence.store.journal import note

    given = [words[n + 1] for n, word in enumerate(words[:-1]) if word == "--record"]
    given += [word.partition("=")[2] for word in words if word.startswith("--record=")]
    try:
        root = record_place(given[-1] if given else None)
        latest = next(iter(list_runs(root)[-1:]), None) if "latest" in words else None
        note(root, words, latest=latest)
    except WhenceError as error:
        output().say(f"not in the journal: {escape(str(error))}")


def flags_first(arguments: list[str]) -> list[str]:
    """Move the global flags to the front, where the root command reads them.

    >>> flags_first(["server", "status", "--json"])
    ['--json', 'server', 'status']
    >>> flags_first(["run", "--", "--json"])
    ['run', '--', '--json']
    """
    end = arguments.index("--") if "--" in arguments else len(arguments)
    flags = [word for word in arguments[:end] if word in GLOBAL_FLAGS]
    return flags + [word for word in arguments[:end] if word not in GLOBAL_FLAGS] + arguments[end:]


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="The options --json, --quiet, --no-color and --debug may also stand behind a command.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"whence {version('whence')}")
        raise typer.Exit


@app.callback()
def whence(
    json: Annotated[bool, typer.Option("--json", help="Print results as JSON.")] = False,
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
    use_output(Output(json=json, quiet=quiet, color=not no_color, debug=debug))


def main() -> None:
    """Run the command line and leave the process with its exit code."""
    if set(sys.argv[1:]).intersection(COMMANDS) and not {"--help", "-h"}.intersection(sys.argv):
        leave_pandas_out()
    try:
        app(prog_name="whence")
    except Exception as error:
        if output().debug:
            raise
        output().error(f"unexpected {type(error).__name__}: {error}; try again with --debug")
        sys.exit(1)
