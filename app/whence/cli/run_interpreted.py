"""``whence run --runner interpreter``: one event at a time, in this process; leaves nothing."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from whence.cli.output import output
from whence.cli.reading import report_read
from whence.cli.run_report import Report, outputs_text
from whence.engine.lineage.tracker import MemoryTracker, Witnesses

if TYPE_CHECKING:
    from whence.cli.chain_options import Prepared

__all__ = ["interpret_and_print"]


def interpret_and_print(
    prepared: Prepared,
    track: bool,
    *,
    support: bool,
    witnesses: Witnesses,
    closed: bool,
    limit: int | None,
) -> None:
    """Run a chain and print every output; nothing but the error if anything goes wrong."""
    from whence.engine.interpreter import interpret

    tracker = MemoryTracker(witnesses) if track or support else None
    with output().progress() as advance, TemporaryDirectory() as folder:
        prepared.progress.to = advance
        result = interpret(
            prepared.logs.chain, prepared.events(Path(folder)), tracker=tracker, closed=closed
        )
    report = Report(len(prepared.logs.chain.outputs) > 1, track, support, witnesses)
    shown = result.outputs[:limit]
    pending = result.interpreter.pending()
    end = {"outputs": len(result.outputs), "shown": len(shown), "pending": pending}
    report.print(report.rows(shown), end)
    for source in prepared.logs.sources.values():
        report_read(source)
    output().message(outputs_text(len(result.outputs), len(shown), pending))
