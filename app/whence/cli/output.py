"""What commands print with: results on stdout, everything else on stderr.

A *result* is the answer of a command, in the form that ``--format`` names: a text or table, one
JSON document, or rows of CSV. Messages and progress are for the person who waits; ``--quiet``
silences them. In a terminal progress is a bar, in a log file a line now and then.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from whence.cli.forms import FORMS, Form
from whence.engine.errors import ParameterError, WhenceWarning
from whence.engine.progress import Listener, Progress
from whence.engine.values.printable import json_line, printable
from whence.engine.values.spreadsheet import SheetWriter

__all__ = ["Output", "output", "several", "showing_warnings", "use_output"]

LINE_EVERY_SECONDS = 5.0
STILL_EVERY_SECONDS = 60.0
"""In a log file: at most so often what has changed, and so often what has not."""


@dataclass(frozen=True)
class Output:
    """How this run of the command line prints."""

    form: Form = "table"
    quiet: bool = False
    color: bool = True
    debug: bool = False
    csv_raw: bool = False

    @property
    def json(self) -> bool:
        """Whether answers are JSON."""
        return self.form == "json"

    @property
    def csv(self) -> bool:
        """Whether answers are CSV."""
        return self.form == "csv"

    def result(
        self,
        data: Any,
        view: RenderableType | None = None,
        rows: Sequence[Mapping[str, Any]] | None = None,
        columns: Sequence[str] = (),
    ) -> None:
        """Print an answer.

        Args:
            data: what is printed as JSON.
            view: what is printed for a person.
            rows: what is printed as CSV; if not given, ``data`` as one row.
            columns: the columns of the CSV, if there may be no row that shows them.
        """
        if self.json:
            print(json_line(data, indent=2, default=str), flush=True)
        elif self.csv:
            found = [data] if rows is None else rows
            self.records(columns or list(dict.fromkeys(n for row in found for n in row)), found)
        elif view is not None:
            self.console(sys.stdout).print(view)

    def records(self, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
        """Print rows as CSV; what is no text or number is JSON.

        Several answers of one command with the same columns have one header.
        """
        head = [] if _header.get() == tuple(columns) else [columns]
        _header.set(tuple(columns))
        self.rows([*head, *([_sheet_cell(row.get(name)) for name in columns] for row in rows)])

    def rows(self, rows: Iterable[Iterable[Any]]) -> None:
        """Print rows as CSV, for a spreadsheet unless ``--csv-raw`` says otherwise."""
        writer = SheetWriter(sys.stdout, raw=self.csv_raw)
        seen = _seen if sys.stdout.isatty() else _same
        for row in rows:
            writer.row(map(seen, row))

    def table(self, rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
        """Print these columns of rows as a table or CSV; as JSON, each row with all it has."""
        if self.csv:
            self.records(columns, rows)
            return
        table = Table(*columns, box=None, pad_edge=False, header_style="bold")
        for row in rows:
            table.add_row(*(_cell(row[column]) for column in columns))
        self.result([dict(row) for row in rows], table)

    def text(self, text: str, *, head: str = "") -> None:
        """Print a piece of a text; beside CSV it is a message, as a CSV holds nothing but rows."""
        if self.csv:
            self.message(text, head=head)
        elif not self.json:
            self.console(sys.stdout).print(_headed(head, text), soft_wrap=True)

    def message(self, text: str, *, head: str = "") -> None:
        """Print a message, with a bold head before it."""
        if not self.quiet:
            self.console(sys.stderr).print(_headed(head, text))

    def warn(self, text: str) -> None:
        """Print in one line what is allowed but probably not meant."""
        if not self.quiet:
            line = _headed("warning:", f" {' '.join(text.split())}", "yellow")
            self.console(sys.stderr).print(line, soft_wrap=True)

    def error(self, text: str) -> None:
        """Print in one line what went wrong."""
        line = _headed("whence:", f" {' '.join(text.split())}", "red")
        self.console(sys.stderr).print(line, soft_wrap=True)

    def refuse(self, *forms: Form, instead: str) -> None:
        """Refuse forms in which a command cannot answer, before it does anything.

        Raises:
            ParameterError: one of them was chosen.
        """
        if self.form in forms:
            left = [form for form in FORMS if form not in forms]
            msg = f"--format: expected {' or '.join(left)}; got {self.form}; try {instead}"
            raise ParameterError(msg)

    @contextmanager
    def progress(self) -> Iterator[Listener]:
        """Show how far something long has come; nothing is shown until it first advances."""
        if self.quiet:
            yield lambda event: None
        elif sys.stderr.isatty():
            with self._bar() as advance:
                yield advance
        else:
            yield _lines()

    def confirm(self, question: str, *, yes: bool) -> bool:
        """Ask before something is destroyed; without a terminal only ``--yes`` says yes."""
        if yes:
            return True
        if not sys.stdin.isatty():
            msg = f"{question} expected an answer; got no terminal to ask in; try --yes"
            raise ParameterError(msg)
        import typer

        return typer.confirm(printable(question), err=True)

    def plain(self, text: str) -> None:
        """Print a text that other programs read, such as a drawing, as it is."""
        print(printable(text) if sys.stdout.isatty() else text, end="", flush=True)

    def status(self, text: str) -> None:
        """Print a line of progress, for a person and for log files."""
        print(printable(text), file=sys.stderr, flush=True)

    def console(self, stream: Any) -> Console:
        """What prints tables, colours and bars on a stream."""
        # Made anew each time, so that a redirected stream is always the one written to. Into a
        # file or pipe, lines are never folded: other programs read them.
        width = None if stream.isatty() else 10_000
        return _Console(
            file=stream,
            no_color=not self.color or None,
            highlight=False,
            emoji=False,
            markup=False,  # texts come out of logs: brackets are meant as they are
            width=width,
        )

    @contextmanager
    def _bar(self) -> Iterator[Listener]:
        from rich import progress as rich_progress

        bar = rich_progress.Progress(
            rich_progress.TextColumn("{task.description}", markup=False),
            rich_progress.BarColumn(),
            rich_progress.TextColumn("{task.fields[amount]}", markup=False),
            console=self.console(sys.stderr),
            transient=True,
        )
        # What is counted differently has a bar of its own.
        tasks: dict[str, rich_progress.TaskID] = {}

        def advance(event: Progress) -> None:
            bar.start()  # only now: what finds nothing to do should not flicker
            done, total, unit = event.done, event.total, event.unit
            if unit not in tasks:
                tasks[unit] = bar.add_task("", total=None, amount="")
            bar.update(
                tasks[unit],
                description=printable(event.text),
                completed=done,
                total=total or None,
                amount=_amount(done, total, unit),
            )

        try:
            yield advance
        finally:
            if bar.live.is_started:
                bar.stop()


class _Console(Console):
    """Whatever is printed, in a table or alone, cannot steer the terminal."""

    def render_str(self, text: str, **how: Any) -> Text:
        """Show what rich would leave out."""
        return super().render_str(printable(text), **how)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Show what nothing else has shown; rich's own orders pass."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(printable(segment.text), segment.style)


def _seen(cell: Any) -> Any:
    return printable(cell) if isinstance(cell, str) else cell


def _same(cell: Any) -> Any:
    return cell


def several(count: int, word: str) -> str:
    """A number of things.

    >>> several(1, "row"), several(3663, "time"), several(2, "activity")
    ('1 row', '3,663 times', '2 activities')
    """
    many = word[:-1] + "ies" if word.endswith("y") else word + "s"
    return f"{count:,} {word if count == 1 else many}"


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
    return "-" if value is None else str(value)


def _sheet_cell(value: Any) -> Any:
    if value is None or (isinstance(value, (str, int, float)) and not isinstance(value, bool)):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def _headed(head: str, text: str, style: str = "bold") -> Text:
    return Text.assemble((printable(head), style), printable(text))


def _lines() -> Listener:
    """A line when something changed, now and then; of what does not change, rarely, how long."""
    told: dict[tuple[str, bool], tuple[str, float, float]] = {}  # the line, since when, said when
    finished: set[tuple[str, str]] = set()

    def advance(event: Progress) -> None:
        now, done, total = time.monotonic(), event.done, event.total
        text, unit = event.text, event.unit
        line = f"{text}: {100 * done // total} %" if total else f"{text} …"
        kind = (unit, bool(total))
        before, since, at = told.get(kind, ("", now, float("-inf")))
        if total and done == total:
            if (unit, text) in finished:
                return
            finished.add((unit, text))
        elif line == before:
            if now - at >= STILL_EVERY_SECONDS:
                told[kind] = (line, since, now)
                output().status(f"{line} ({now - since:.0f} s so far)")
            return
        elif now - at < LINE_EVERY_SECONDS:
            return
        told[kind] = (line, now, now)
        output().status(line)

    return advance


@contextmanager
def showing_warnings() -> Iterator[None]:
    """Show what the engine warns of as messages of the command."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", WhenceWarning)
        before = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if issubclass(category, WhenceWarning):
                output().warn(str(message))
            else:
                before(message, category, filename, lineno, file, line)

        warnings.showwarning = show
        yield


_header: ContextVar[tuple[str, ...]] = ContextVar("header", default=())
"""The columns of the CSV that was printed last."""

_current: ContextVar[Output | None] = ContextVar("output", default=None)


def use_output(chosen: Output) -> None:
    """Let every command of this run print this way."""
    _current.set(chosen)
    _header.set(())


def output() -> Output:
    """Give the way to print that the global options chose."""
    return _current.get() or Output()
