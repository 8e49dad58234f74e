"""Take the values of events out of the graph, in place; what leads to what stays."""

from __future__ import annotations

from pathlib import Path

from whence.engine.lineage.positions import Intervals
from whence.engine.progress import Listener, Reporter
from whence.engine.record import RunRecord
from whence.engine.record.erasing import ERASED, Erasure
from whence.store.care.contents import contents
from whence.store.care.removing import is_stored
from whence.store.catalog import run_is_loaded
from whence.store.connection import Connection
from whence.store.cypher import cypher
from whence.store.loading.register import register, run_state, stream_id
from whence.store.places import key_of

__all__ = ["describe_erased", "erase_in_graph"]


_PAGE = 5000
"""Events a transaction."""


def erase_in_graph(
    connection: Connection, root: Path, erasure: Erasure, progress: Listener | None = None
) -> int:
    """Take the values of an erasure's events out of the graph; may be done again.

    The record has to be through with it: logs and streams are described from there anew, with
    where something was erased.

    Args:
        connection: where the graph is.
        root: the record's place.
        erasure: what is to go.
        progress: told how far it has come.

    Returns:
        How many events of the graph it was.
    """
    report = Reporter(progress, "erasing", "steps")
    numbers = {str(each["id"]): int(each["no"]) for each in contents(connection).collections}
    wanted: list[tuple[int, Intervals, bool]] = []
    for id, places in erasure.logs.items():
        if id in numbers:
            wanted.append((numbers[id], places, False))
    for run, streams in erasure.streams.items():
        for name, places in streams.items():
            if stream_id(run, name) in numbers:
                wanted.append((numbers[stream_id(run, name)], places, True))
    pages = [
        (key_of(no, first), key_of(no, min(first + _PAGE - 1, hi)), output)
        for no, places, output in wanted
        for lo, hi in places
        for first in range(lo, hi + 1, _PAGE)
    ]
    erased = 0
    for done, (first, last, output) in enumerate(pages):
        report(done, len(pages), "erasing in the graph")
        said = {"value": "null", "kind": ERASED} if output else {"value": None, "kind": None}
        rows = connection.write(cypher("erase_events"), first=first, last=last, **said)
        erased += int(rows[0]["erased"])
    report(len(pages), len(pages), "erasing in the graph")
    describe_erased(connection, root, erasure)
    return erased


def describe_erased(connection: Connection, root: Path, erasure: Erasure) -> None:
    """Say in the graph what the record says of an erasure and of where something was erased."""
    for id in erasure.runs:
        if is_stored(connection, id):
            _describe(connection, RunRecord(root, id))


def _describe(connection: Connection, run: RunRecord) -> None:
    manifest = run.manifest
    register(connection, run, manifest)
    logs = [run.log(name).manifest for name in manifest.logs]
    run_state(connection, manifest, logs, loaded=run_is_loaded(connection, run.id))
