"""How commands open logs, and what they say of what was read, dropped or left empty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from whence.cli.output import output, several
from whence.engine.errors import LogError

if TYPE_CHECKING:
    from whence.engine.language.log import Log
    from whence.engine.progress import Listener, Progress
    from whence.engine.sources.source import Source

__all__ = ["Relay", "opened", "report_mapping", "report_read"]

_SHOWN = 5
_LONG = 4_000_000  # bytes


class Relay:
    """Hands progress on to whatever shows it by the time it comes."""

    def __init__(self) -> None:
        self.to: Listener | None = None

    def __call__(self, event: Progress) -> None:
        if self.to is not None:
            self.to(event)


def opened(
    where: Path | Sequence[Path],
    declared: Log | None,
    progress: Listener,
    record: Path | None = None,
) -> Source:
    """Open a log as it is declared; its progress goes where the command's goes."""
    from whence.engine.record import record_place
    from whence.engine.record.run_stream import RunStream, is_run_stream
    from whence.engine.sources.declared import open_declared
    from whence.engine.sources.opening import on_one_line

    if declared is not None and declared.format == "spark":
        msg = (
            "a log: expected a file or folder on the command line; got the format spark; "
            "try run(chain, DataFrame) of whence.api, or writing the table to Parquet"
        )
        raise LogError(msg)
    if isinstance(where, Path) and is_run_stream(where):
        return RunStream(record_place(record), where)
    first = where if isinstance(where, Path) else where[0]
    text = f"reading {on_one_line(first.name)}"

    def of_file(event: Progress) -> None:
        progress(replace(event, text=text))

    return open_declared(where, declared, progress=of_file if _is_long(where) else None)


def _is_long(where: Path | Sequence[Path]) -> bool:
    """Whether reading may take a moment; what does not needs no progress."""
    from whence.engine.sources.opening import log_files

    try:
        return sum(file.stat().st_size for file in log_files(where)) >= _LONG
    except (OSError, LogError):
        return False  # opening it will say what is wrong


def report_read(source: Source, *, always: bool = False) -> None:
    """Say how many rows were read and, if some did not fit, which and why.

    Args:
        source: a log that was read.
        always: say it as well if all rows fit.
    """
    report, out = source.report, output()
    if not report.dropped and not report.missing:
        if always:
            out.message(f"{source.name}: {several(report.read, 'row')} read, none dropped")
        return
    what = []
    if report.dropped:
        what.append(f"{report.dropped:,} dropped")
    if report.missing:
        what.append(f"{several(report.missing, 'value')} left empty")
    out.message(f"{source.name}: {several(report.read, 'row')} read, {', '.join(what)}:")
    for bad in report.bad[:_SHOWN]:
        out.message(f"  {bad}")
    more = max(report.dropped, report.missing) - _SHOWN
    if more > 0:
        out.message(f"  … {more:,} more")


def report_mapping(source: Source, declared: Log | None) -> None:
    """Say which columns are taken for case, activity, time and id, if that was guessed."""
    from whence.engine.sources.declared import mapped

    guessed = {role: m.column for role, m in mapped(source, declared).items() if m.why == "name"}
    if guessed:
        told = ", ".join(f"{role} is {column!r}" for role, column in guessed.items())
        options = ", ".join(f"--{role}" for role in guessed)
        text = f"{source.name}: {told}, by their names ({options} change that)"
        output().message(text)
