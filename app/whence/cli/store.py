"""``whence store``: maintain the graph as a whole."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whence.cli.asking import Record, print_text
from whence.cli.connecting import Server, connects, local_instance
from whence.cli.output import output, several

if TYPE_CHECKING:
    from whence.store.care import StoreSizes

__all__ = ["app"]

_COLUMNS = ("kind", "id", "runs", "nodes", "edges", "graph_bytes", "record_bytes")

app = typer.Typer(
    add_completion=False,
    help="Maintain the graph in Neo4j: check, show size, rebuild.",
    no_args_is_help=True,
)


@app.command()
@connects
def check(
    record: Record = None,
    *,
    server: Server,
) -> None:
    """Compare the whole graph with what was loaded; print one line per difference.

    Compares counts and digest of every chunk, heads of slices, parts of the record that are
    missing, orphaned events and spans, and indexes. The exit code is 1 if there is a difference.
    """
    from whence.store.care import check as check_graph

    out = output()
    with server.connect() as connection, out.progress() as advance:
        report = check_graph(connection, record, advance)
    if out.form != "table":
        rows = [asdict(finding) for finding in report.findings]
        out.result(asdict(report), rows=rows, columns=["kind", "about", "problem"])
    else:
        for finding in report.findings:
            print_text(str(finding))
        if report.without_record:
            names = ", ".join(report.without_record[:5])
            many = len(report.without_record)
            out.message(f"{many} runs without a record here ({names}): heads were not compared")
        end = (
            several(len(report.findings), "finding") if report.findings else "all as it was loaded"
        )
        held = f"{report.chunks:,} chunks, {report.events:,} events, {report.edges:,} relationships"
        print_text(f"{held}: {end}")
    if report.findings:
        raise typer.Exit(1)


@app.command()
@connects
def stats(
    record: Record = None,
    *,
    server: Server,
) -> None:
    """Show the number of nodes, relationships and bytes of each run and each log."""
    from whence.store.care import stats as store_stats

    with server.connect() as connection:
        sizes = store_stats(connection, record)
    out = output()
    rows = [asdict(share) for share in sizes.shares]
    if out.csv:
        out.records(_COLUMNS, rows)
        return
    if out.json:
        out.result(asdict(sizes))
        return
    shown = [{**row, "runs": len(row["runs"]), **_sizes(row)} for row in rows]
    out.table(shown, _COLUMNS)
    print_text(f"in all {sizes.nodes:,} nodes, {sizes.edges:,} relationships{_files(sizes)}")


@app.command()
@connects
def rebuild(
    record: Record = None,
    drop_lost: Annotated[
        bool, typer.Option("--drop-lost", help="Drop runs that have no record any more.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    *,
    server: Server,
) -> None:
    """Rebuild the graph of the local server from all records, with Neo4j's offline importer.

    The old graph stays until the new one is complete. The server is unavailable for a moment.
    """
    from whence.engine.record import record_place
    from whence.store.care import rebuild as rebuild_graph

    name = local_instance(server)
    root = record_place(record)
    out = output()
    if not out.confirm(f"Replace the graph of the local server {name!r} from {root}?", yes=yes):
        raise typer.Exit(1)
    with out.progress() as advance:
        report = rebuild_graph(root, name, drop_lost=drop_lost, progress=advance)
    text = f"{name}: {len(report.runs)} runs, {report.nodes:,} nodes, "
    text += f"{report.edges:,} relationships"
    if report.left_out:
        text += f"; not ended, load them later: {', '.join(report.left_out)}"
    if report.dropped:
        text += f"; given up: {', '.join(report.dropped)}"
    out.result(asdict(report), text)


@app.command()
@connects
def dump(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")],
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the file if it is there.")
    ] = False,
    *,
    server: Server,
) -> None:
    """Write the graph of the local server into one file; the server is unavailable meanwhile."""
    from whence.store.care import dump as dump_graph

    name = local_instance(server)
    with output().progress() as advance:
        size = dump_graph(file, name, overwrite=overwrite, progress=advance)
    text = f"{name}: {bytes_text(size)} in {file}"
    output().result({"instance": name, "file": str(file), "bytes": size}, text)


@app.command()
@connects
def restore(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A file written by whence store dump.")
    ],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    *,
    server: Server,
) -> None:
    """Replace the graph of the local server by the contents of a file."""
    from whence.store.care import restore as restore_graph

    name = local_instance(server)
    if not output().confirm(f"Replace the graph of the local server {name!r}?", yes=yes):
        raise typer.Exit(1)
    with output().progress() as advance:
        runs = restore_graph(file, name, progress=advance)
    text = f"{name}: {runs} runs from {file}"
    output().result({"instance": name, "file": str(file), "runs": runs}, text)


def _sizes(row: dict[str, Any]) -> dict[str, str]:
    return {
        name: "-" if row[name] is None else bytes_text(row[name])
        for name in ("graph_bytes", "record_bytes")
    }


def _files(sizes: StoreSizes) -> str:
    if sizes.store_bytes is None or sizes.transaction_bytes is None:
        return ""
    logs = bytes_text(sizes.transaction_bytes)
    return f", {bytes_text(sizes.store_bytes)} of files, {logs} of transaction logs"


def bytes_text(many: int) -> str:
    """A size for a person.

    >>> bytes_text(999), bytes_text(1_234_567)
    ('999 B', '1.2 MB')
    """
    size, unit = float(many), "B"
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            break
        size /= 1000
    return f"{many} B" if unit == "B" else f"{size:.1f} {unit}"
