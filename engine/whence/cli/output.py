"""What commands print with: results on stdout, everything else on stderr.

A *result* is what was asked for: a text or table, or one JSON document with ``--json``. Messages
and progress are for the person who waits; ``--quiet`` silences them. In a terminal progress is a
bar, in a log file a line now and then.
"""

from __future__ import annotations

import json as json_module
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from rich.console import Console, RenderableType
from rich.markup import escape
from rich.table import Table

from whence.engine.errors import ParameterError

__all__ = ["Advance", "Output", "output", "use_output"]

Advance = Callable[[int, int, str], None]
"""Called with how much is done, how much there is in all, and what is being done."""

LINE_EVERY_SECONDS = 5.0


@dataclass(frozen=True)
class Output:
    """How this run of the command line prints."""

    json: bool = False
    quiet: bool = False
    color: bool = True
    debug: bool = False

    def result(self, data: object, view: RenderableType | None = None) -> None:
        """Print what was asked for: ``data`` as JSON, or ``view`` for a person."""
        if self.json:
            print(json_module.dumps(data, indent=2, ensure_ascii=False, default=str), flush=True)
        elif view is not None:
            self._console(sys.stdout).print(view)

    def table(self, rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
        """Print rows as a table with these columns; as JSON, each row with all it has."""
        table = Table(*columns, box=None, pad_edge=False, header_style="bold")
        for row in rows:
            table.add_row(*(_cell(row[column]) for column in columns))
        self.result([dict(row) for row in rows], table)

    def tell(self, text: str) -> None:
        """Print a piece of the answer as it comes; rich markup is understood."""
        if not self.json:
            self._console(sys.stdout).print(text, soft_wrap=True)

    def say(self, text: str) -> None:
        """Tell the person who waits; rich markup is understood."""
        if not self.quiet:
            self._console(sys.stderr).print(text)

    def error(self, text: str) -> None:
        """Say in one line what went wrong."""
        line = " ".join(text.split())
        self._console(sys.stderr).print(f"[red]whence:[/red] {escape(line)}", soft_wrap=True)

    @contextmanager
    def progress(self, unit: str = "bytes") -> Iterator[Advance]:
        """Show how far something long has come; nothing is shown until it first advances."""
        if self.quiet:
            yield lambda done, total, text: None
        elif sys.stderr.isatty():
            with self._bar(unit) as advance:
                yield advance
        else:
            yield _lines(unit)

    def confirm(self, question: str, *, yes: bool) -> bool:
        """Ask before something is destroyed; without a terminal only ``--yes`` says yes."""
        if yes:
            return True
        if not sys.stdin.isatty():
            msg = f"{question} expected an answer; got no terminal to ask in; try --yes"
            raise ParameterError(msg)
        import typer

        return typer.confirm(question, err=True)

    def _console(self, stream: Any) -> Console:
        # Made anew each time, so that a redirected stream is always the one written to. Into a
        # file or pipe, lines are never folded: other programs read them.
        width = None if stream.isatty() else 10_000
        return Console(file=stream, no_color=not self.color or None, highlight=False, width=width)

    @contextmanager
    def _bar(self, unit: str) -> Iterator[Advance]:
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
        )

        amount = DownloadColumn() if unit == "bytes" else MofNCompleteColumn()
        bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            amount,
            console=self._console(sys.stderr),
            transient=True,
        )
        task = bar.add_task("", total=None)

        def advance(done: int, total: int, text: str) -> None:
            bar.start()  # only now: what finds nothing to do should not flicker
            bar.update(task, completed=done, total=total, description=escape(text))

        try:
            yield advance
        finally:
            if bar.live.is_started:
                bar.stop()


def _cell(value: object) -> str:
    return "-" if value is None else escape(str(value))


def _lines(unit: str) -> Advance:
    last, finished = 0.0, False

    def advance(done: int, total: int, text: str) -> None:
        nonlocal last, finished
        now = time.monotonic()
        just_finished = done == total and not finished
        if just_finished or (done < total and now - last >= LINE_EVERY_SECONDS):
            last, finished = now, done == total
            share = f"{100 * done // total} %" if total else f"{done} {unit}"
            print(f"{text}: {share}", file=sys.stderr, flush=True)

    return advance


_current: ContextVar[Output | None] = ContextVar("output", default=None)


def use_output(chosen: Output) -> None:
    """Let every command of this run print this way."""
    _current.set(chosen)


def output() -> Output:
    """Give the way to print that the global options chose."""
    return _current.get() or Output()
