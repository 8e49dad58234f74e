"""``whence ask``: Cypher of the user's own, which may only read."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from whence.cli.connecting import Server, connects
from whence.cli.output import output
from whence.engine.errors import ParameterError

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command()
@connects
def ask(
    query: Annotated[str, typer.Argument(metavar="CYPHER", help="A query that only reads.")],
    parameter: Annotated[
        list[str] | None,
        typer.Option("--param", metavar="NAME=VALUE", help="A value for $NAME; JSON, else text."),
    ] = None,
    timeout: Annotated[
        float, typer.Option("--timeout", min=0.1, help="Time limit in seconds.")
    ] = 30.0,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Maximum number of rows.")] = 1000,
    *,
    server: Server,
) -> None:
    """Query the graph in Cypher, read-only: no writes, no files, no other servers.

    Refuses LOAD CSV, and all procedures except those that describe the graph.
    """
    from whence.store.questions import ask as run_query

    with server.connect() as connection:
        found = run_query(
            connection, query, _parameters(parameter or []), timeout=timeout, most=limit
        )
    columns = list(found.columns)
    rows = [dict(zip(columns, row, strict=True)) for row in found.rows]
    if output().csv:
        output().records(columns, rows)
    elif output().json:
        output().result({"columns": columns, "rows": rows, "more": found.more})
        return
    else:
        output().table([{n: _shown(v) for n, v in row.items()} for row in rows], columns)
    if found.more:
        text = f"… more than {limit:,} rows; --limit {10 * limit} shows more of them"
        output().text(text)


def _parameters(given: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for each in given:
        name, sign, text = each.partition("=")
        if not sign or not name.isidentifier():
            msg = f"--param: expected NAME=VALUE; got {each!r}; try --param key=41"
            raise ParameterError(msg)
        try:
            found[name] = json.loads(text)
        except ValueError:
            found[name] = text
    return found


def _shown(value: Any) -> Any:
    plain = value is None or isinstance(value, (str, int, float))
    return value if plain else json.dumps(value, ensure_ascii=False, default=str)
