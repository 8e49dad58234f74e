"""Build the local graph again from all records, with Neo4j's offline importer."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from whence.engine.errors import LogError, StoreError
from whence.engine.java import find_java
from whence.engine.progress import Listener, Reporter
from whence.engine.record import RunRecord, list_runs
from whence.engine.record.contributions import contributions
from whence.store.care.contents import contents
from whence.store.care.exporting import export_runs, numbered
from whence.store.care.import_files import EMPTY_MARK, ImportFiles
from whence.store.connection import Connection, connect
from whence.store.cypher import cypher
from whence.store.loading.contributions import keep_contributions, lacks_contributions
from whence.store.loading.loader import ENDED
from whence.store.loading.reading_back import pages
from whence.store.loading.register import prepare_schema, register, run_state
from whence.store.migrations.to_3 import write_packed
from whence.store.places import no_of, position_of
from whence.store.server.fetch import ensure_jars
from whence.store.server.folders import default_instance
from whence.store.server.instance import Instance, run_admin
from whence.store.server.lifecycle import start
from whence.store.server.memory import Memory
from whence.store.server.ports import BOLT_PORT
from whence.store.server.replacing import replaced, workshop
from whence.store.server.serving import DATABASE

__all__ = ["RebuildReport", "rebuild"]


IMPORT_SECONDS = 24 * 3600.0
STATES = "SHOW INDEXES YIELD state RETURN state"


@dataclass(frozen=True)
class RebuildReport:
    """What was built.

    Attributes:
        instance: the local server's name.
        runs: the runs that are in the graph now.
        left_out: runs of the record that have not ended; ``whence load`` brings them.
        dropped: runs that were in the graph and in no record.
        nodes: how many events, spans and markers were imported.
        edges: how many relationships.
    """

    instance: str
    runs: tuple[str, ...]
    left_out: tuple[str, ...]
    dropped: tuple[str, ...]
    nodes: int
    edges: int


def rebuild(
    record: Path,
    name: str | None = None,
    *,
    drop_lost: bool = False,
    memory: Memory | None = None,
    port: int | None = BOLT_PORT,
    progress: Listener | None = None,
) -> RebuildReport:
    """Replace the graph of a local server by one made from all runs of a record.

    The new one is built beside the old one, which stays until the new one is complete.

    Args:
        record: the record's place.
        name: which local server, else that of ``WHENCE_INSTANCE``; made if it does not exist.
        drop_lost: give up runs that are in the graph and in no record; else they are a reason to
            refuse.
        memory: what the server and the importer may take.
        port: the port that the server takes if it does not run; ``None`` for any free one.
        progress: told how far it has come.

    Raises:
        StoreError: the graph has runs whose record is gone, or there is no run to build it from.
    """
    report = Reporter(progress, "rebuilding", "parts")
    name = name or default_instance()
    runs, left_out = _runs(record)
    memory = memory or Memory.for_machine()
    now = start(name, port=port, memory=memory)
    with connect(now.settings()) as connection:
        known = {*(run.id for run in runs), *left_out}
        dropped = tuple(id for id in contents(connection).runs if id not in known)
    if dropped and not drop_lost:
        msg = (
            f"rebuild: expected a record of every run in the graph; got none of "
            f"{', '.join(dropped[:5])}; try --record DIR, or --drop-lost to give them up"
        )
        raise StoreError(msg)
    instance = Instance(name)
    numbers = numbered(runs)
    with workshop(instance) as home:
        files = export_runs(runs, numbers, home / "import", report)
        report(0, 1, "importing")
        java = find_java()
        run_admin(
            home,
            java,
            ensure_jars(java, progress),
            *("database", "import", "full", DATABASE, "--overwrite-destination=true"),
            f"--report-file={home / 'import.report'}",
            f"--max-off-heap-memory={memory.page_cache + memory.heap}m",
            *files.arguments(),
            doing="import the files",
            heap=memory.heap,
            timeout=IMPORT_SECONDS,
        )
        report(1, 1, "importing")
        with replaced(instance, home, memory) as connection:
            _finish(connection, runs, files, report)
    return RebuildReport(
        name, tuple(run.id for run in runs), left_out, dropped, files.nodes, files.edges
    )


def _runs(record: Path) -> tuple[list[RunRecord], tuple[str, ...]]:
    """The runs that have ended, those first whose streams others read; and the others."""
    found: dict[str, RunRecord] = {}
    left_out: list[str] = []

    def take(id: str) -> None:
        if id in found or id in left_out:
            return
        run = RunRecord(record, id)
        manifest = run.manifest
        if manifest.status not in ENDED:
            left_out.append(id)
            return
        for name in manifest.logs:
            made_by = run.log(name).made_by
            if made_by is not None:
                try:
                    take(made_by[0])
                except LogError as gone:
                    msg = (
                        f"run {id}: expected run {made_by[0]}, whose stream it read, in the "
                        "record; got none; try whence runs remove"
                    )
                    raise StoreError(msg) from gone
        found[id] = run

    for id in list_runs(record):
        take(id)
    if not found:
        msg = f"rebuild: expected runs in the record {record}; got none; try --record DIR"
        raise StoreError(msg)
    return list(found.values()), tuple(left_out)


def _finish(
    connection: Connection, runs: Sequence[RunRecord], files: ImportFiles, report: Reporter
) -> None:
    """What is small is written as loading writes it, and what the importer cannot make."""
    prepare_schema(connection)
    while any(row["state"] != "ONLINE" for row in connection.read(STATES)):
        time.sleep(0.2)
    connection.write(cypher("import_fix_markers"))
    for done, (chunk, path, bounds) in enumerate(files.packed):
        report(done, len(files.packed), "packing edges")
        write_packed(connection, chunk, (path.read_bytes(), bounds))
    for done, (first, last) in enumerate(files.to_mend):
        report(done, len(files.to_mend), "writing empty lists")
        _mend(connection, first, last)
    for done, run in enumerate(runs):
        report(done, len(runs), "registering runs")
        manifest = run.manifest
        register(connection, run, manifest)
        logs = [run.log(name).manifest for name in manifest.logs]
        run_state(connection, manifest, logs, loaded=True)
        if lacks_contributions(connection, run):
            keep_contributions(connection, run, contributions(run))
    report(len(runs), len(runs), "registering runs")


def _mend(connection: Connection, first: int, last: int) -> None:
    mark = {"mark": [EMPTY_MARK]}
    for keys in pages(connection, first, last):
        ends = {"first": keys[0], "last": keys[-1]}
        connection.write(cypher("import_fix_edges"), **ends, **mark)
    connection.write(cypher("import_fix_edges"), first=first, last=first, **mark)  # of an end
    places = {"first": position_of(first), "last": position_of(last)}
    connection.write(cypher("import_fix_bands"), no=no_of(first), **places, **mark)
