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
from whence.engine.progress import Progress

__all__ = ["Advance", "Output", "listening", "output", "use_output"]

Advance = Callable[..., None]
"""Called with how much is done, how much there is in all, what is being done, and, if it is not
what was said at first, of what (``unit=``)."""

LINE_EVERY_SECONDS = 5.0
STILL_EVERY_SECONDS = 60.0
"""In a log file: at most so often what has changed, and so often what has not."""


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
            yield lambda done, total, text, unit=None: None
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
        from rich.progress import BarColumn, Progress, TaskID, TextColumn

        bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[amount]}"),
            console=self._console(sys.stderr),
            transient=True,
        )
        tasks: dict[str, TaskID] = {}  # what is counted differently has a bar of its own

        def advance(done: int, total: int, text: str, unit: str = unit) -> None:
            bar.start()  # only now: what finds nothing to do should not flicker
            if unit not in tasks:
                tasks[unit] = bar.add_task("", total=None, amount="")
            bar.update(
                tasks[unit],
                description=escape(text),
                completed=done,
                total=total or None,
                amount=_amount(done, total, unit),
            )

        try:
            yield advance
        finally:
            if bar.live.is_started:
                bar.stop()


def listening(advance: Advance) -> Callable[[Progress], None]:
    """What shows the events of `whence.api` where a command shows its progress."""
    return lambda event: advance(event.done, event.total, event.text, unit=event.unit)


def _amount(done: int, total: int, unit: str) -> str:
    """How much is done, for a person.

    >>> _amount(2_000_000, 4_000_000, "bytes"), _amount(1000, 4000, "events"), _amount(0, 0, "")
    ('2.0/4.0 MB', '1,000/4,000 events', '')
    """
    if not total:
        return ""
    if unit == "bytes":
        return f"{done / 1e6:,.1f}/{total / 1e6:,.1f} MB"
    return f"{done:,}/{total:,} {unit}"


def _cell(value: object) -> str:
    return "-" if value is None else escape(str(value))


def _lines(unit: str) -> Advance:
    """A line when something changed, now and then; of what does not change, rarely, how long."""
    told: dict[tuple[str, bool], tuple[str, float, float]] = {}  # the line, since when, said when
    finished: set[str] = set()

    def advance(done: int, total: int, text: str, unit: str = unit) -> None:
        now = time.monotonic()
        line = f"{text}: {100 * done // total} %" if total else f"{text} …"
        kind = (unit, bool(total))
        before, since, at = told.get(kind, ("", now, float("-inf")))
        if total and done == total:
            if unit in finished:
                return
            finished.add(unit)
        elif line == before:
            if now - at >= STILL_EVERY_SECONDS:
                told[kind] = (line, since, now)
                print(f"{line} ({now - since:.0f} s so far)", file=sys.stderr, flush=True)
            return
        elif now - at < LINE_EVERY_SECONDS:
            return
        told[kind] = (line, now, now)
        print(line, file=sys.stderr, flush=True)

    return advance


_current: ContextVar[Output | None] = ContextVar("output", default=None)


def use_output(chosen: Output) -> None:
    """Let every command of this run print this way."""
    _current.set(chosen)


def output() -> Output:
    """Give the way to print that the global options chose."""
    return _current.get() or Output()
