"""A run in a notebook: what it is, its first outputs, and its chain with counts on the pipes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from whence.engine.drawing import Picture, picture_of_chain, svg
from whence.engine.drawing.cell import cell, details, line, table
from whence.engine.errors import ParameterError
from whence.engine.interpreter.pending import pending_text
from whence.engine.language.definition import chain_from_tree
from whence.engine.record.manifest import StreamInfo
from whence.engine.values.columns import from_canonical

if TYPE_CHECKING:
    from whence.engine.record import RunRecord

__all__ = ["cell_of_run", "picture_of_run"]

FIRST = 10
"""Maximum number of outputs shown."""


def picture_of_run(record: RunRecord) -> Picture:
    """The chain of a run, with how many events each log and pipe had."""
    manifest = record.manifest
    if "job" in manifest.chain:
        msg = f"run {record.id}: expected one of a chain; got a job without one; try another run"
        raise ParameterError(msg)
    counts = {name: record.log(name).length for name in manifest.logs}
    counts |= {s.name: s.length for s in manifest.outputs}
    return picture_of_chain(chain_from_tree(manifest.chain), counts, title=f"run {record.id}")


def cell_of_run(record: RunRecord, told: str) -> str:
    """A run as HTML.

    Args:
        record: the run.
        told: what it is, in one line.
    """
    manifest = record.manifest
    pipes = manifest.outputs
    count = sum(stream.length for stream in pipes)
    rows = list(islice(_outputs(record, pipes), FIRST))
    facts: list[dict[str, Any]] = [
        {"": "logs", " ": ", ".join(_log(record, name) for name in manifest.logs)},
        {"": "outputs", " ": f"{count:,}, {sum(s.tracked for s in pipes):,} of them tracked"},
        {"": "pending", " ": pending_text(manifest.pending)},
        {"": "error", " ": manifest.error},
        {"": "record", " ": str(record.folder)},
    ]
    left = count - len(rows)
    return cell(
        line(told, strong=True),
        table(["", " "], [fact for fact in facts if fact[" "]]),
        table(["pipe", "position", "moment", "value"], rows),
        *([line(f"… {left:,} more; .to_pandas() has all of them")] if left else []),
        *_drawn(record),
    )


def _drawn(record: RunRecord) -> Iterator[str]:
    if "job" not in record.manifest.chain:
        yield details("the chain, with counts", svg(picture_of_run(record)))


def _log(record: RunRecord, name: str) -> str:
    return f"{name} with {record.log(name).length:,} events"


def _outputs(record: RunRecord, pipes: Iterable[StreamInfo]) -> Iterator[dict[str, Any]]:
    """The first outputs, pipe after pipe."""
    for stream in pipes:
        for part in stream.outputs:
            found = record.outputs(stream.name, part.part).slice(0, FIRST).to_pylist()
            for row in found:
                shown = {name: row[name] for name in ("position", "moment")}
                value = "missing" if row["kind"] == "missing" else from_canonical(row["value"])
                yield {"pipe": stream.name, **shown, "value": value}
