"""``whence store``: care for the graph as a whole."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from whence.cli.asking import AsCsv, Record, print_csv, tell
from whence.cli.connecting import Server, connects
from whence.cli.output import output

if TYPE_CHECKING:
    from whence.store.care import StoreSizes

__all__ = ["app"]

_COLUMNS = ("kind", "id", "runs", "nodes", "edges", "graph_bytes", "record_bytes")

app = typer.Typer(
    add_completion=False,
    help="Care for the graph in Neo4j: check it, say how large it is.",
    no_args_is_help=True,
)


@app.command()
@connects
def check(
    record: Record = None,
    *,
    server: Server,
) -> None:
    """Compare the whole graph with what was loaded; one line for each thing that differs, then 1.

    Counts and digest of every chunk, heads of slices, parts of the record that are missing, events
    and spans that belong to nobody, and the indexes.
    """
    from whence.store.care import check as check_graph

    out = output()
    with server.connect() as connection, out.progress("chunks") as advance:
        report = check_graph(connection, record, advance)
    if out.json:
        out.result(asdict(report))
    else:
        for finding in report.findings:
            tell(str(finding))
        if report.without_record:
            names = ", ".join(report.without_record[:5])
            many = len(report.without_record)
            out.say(f"{many} runs without a record here ({names}): heads were not compared")
        end = f"{len(report.findings)} findings" if report.findings else "all as it was loaded"
        held = f"{report.chunks:,} chunks, {report.events:,} events, {report.edges:,} relationships"
        tell(f"{held}: {end}")
    if report.findings:
        raise typer.Exit(1)


@app.command()
@connects
def stats(
    record: Record = None,
    csv: AsCsv = False,
    *,
    server: Server,
) -> None:
    """Say how many nodes, relationships and bytes each run and each log has."""
    from whence.store.care import stats as store_stats

    with server.connect() as connection:
        sizes = store_stats(connection, record)
    out = output()
    rows = [asdict(share) for share in sizes.shares]
    if csv:
        print_csv(_COLUMNS, rows)
        return
    if out.json:
        out.result(asdict(sizes))
        return
    shown = [{**row, "runs": len(row["runs"]), **_sizes(row)} for row in rows]
    out.table(shown, _COLUMNS)
    tell(f"in all {sizes.nodes:,} nodes, {sizes.edges:,} relationships{_files(sizes)}")


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
