"""``whence never-matters``: which input events does no output need?"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from whence.cli.asking import (
    AsCsv,
    Cypher,
    Prov,
    Run,
    asked,
    print_csv,
    print_queries,
    ranges_text,
    save_prov,
    share_text,
    tell,
)
from whence.cli.connecting import Database, Insecure, PasswordFile, Uri, Username
from whence.cli.output import output

if TYPE_CHECKING:
    from whence.store.questions import LogShare

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command("never-matters")
def never_matters(
    run: Run,
    as_csv: AsCsv = False,
    cypher: Cypher = False,
    prov: Prov = None,
    uri: Uri = None,
    username: Username = None,
    password_file: PasswordFile = None,
    database: Database = None,
    insecure: Insecure = False,
) -> None:
    """Say which input events never mattered in a run.

    Certain: changing one of them changes nothing in this run. Softer: they explain no output, but
    the outputs may still lean on them.
    """
    from whence.store.questions import never_matters as ask

    with asked(uri, username, password_file, database, insecure) as connection:
        answer = ask(connection, run)
        if prov is not None:
            save_prov(connection, answer, prov)
    rows = [
        {"answer": name, **_row(share)}
        for name, shares in (("certain", answer.certain), ("softer", answer.softer))
        for share in shares
    ]
    if as_csv:
        flat = [{**row, "lo": lo, "hi": hi} for row in rows for lo, hi in row["ranges"]]
        print_csv(["answer", "log", "lo", "hi"], flat)
    elif output().json:
        coverage = asdict(answer.coverage)
        document: dict[str, Any] = {"run": answer.run, "answers": rows, "coverage": coverage}
        output().result(document | ({"cypher": dict(answer.cypher)} if cypher else {}))
    else:
        shown = [
            {
                **row,
                "events": f"{row['count']:,} of {row['length']:,}",
                "share": share_text(row["share"]),
                "positions": ranges_text(row["ranges"]),
            }
            for row in rows
        ]
        output().table(shown, ["answer", "log", "events", "share", "positions"])
        tell(f"coverage: {answer.coverage}")
        if cypher:
            print_queries(answer.cypher)


def _row(share: LogShare) -> dict[str, Any]:
    return {
        "log": share.log,
        "count": share.count,
        "length": share.length,
        "share": share.share,
        "ranges": share.ranges,
    }
