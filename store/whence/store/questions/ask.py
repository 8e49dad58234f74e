"""Ask: a user's own Cypher, which may only read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from whence.engine.errors import ParameterError, StoreError
from whence.store.connection import Connection, translated

if TYPE_CHECKING:
    from neo4j.exceptions import ClientError

__all__ = ["ASK_ROWS", "ASK_SECONDS", "PROCEDURES", "Rows", "ask"]

ASK_SECONDS = 30.0
ASK_ROWS = 1000
PROCEDURES = frozenset(
    {
        "db.labels",
        "db.propertyKeys",
        "db.relationshipTypes",
        "db.schema.nodeTypeProperties",
        "db.schema.relTypeProperties",
        "db.schema.visualization",
    }
)
"""Procedures that tell what the graph is made of, and nothing of the server it runs on."""
SHOWN = frozenset({"ShowIndexes", "ShowConstraints", "ShowFunctions", "ShowProcedures"})
"""Of what the server shows, that which is no secret of its."""


@dataclass(frozen=True)
class Rows:
    """What a query gave.

    Attributes:
        columns: their names.
        rows: the first of the rows; nodes and relationships as maps.
        more: whether there are more.
        cypher: the query.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool
    cypher: Mapping[str, str]


def ask(
    connection: Connection,
    query: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    timeout: float = ASK_SECONDS,
    most: int = ASK_ROWS,
) -> Rows:
    """Run a query that only reads, for a limited time, and return a limited number of rows.

    The server says first what it would do: whatever writes, reads files or addresses, or calls
    other procedures than a few is refused before it begins.

    Args:
        connection: where the graph is.
        query: Cypher.
        parameters: values for it.
        timeout: seconds.
        most: rows.

    Raises:
        ParameterError: the query is refused, or is none.
        StoreError: it takes too long.
    """
    from neo4j import READ_ACCESS, Query, exceptions

    if re.match(r"\s*(explain|profile)\b", query, re.IGNORECASE):
        msg = "ask: expected a query to run; got EXPLAIN or PROFILE; try the query itself"
        raise ParameterError(msg)
    given = dict(parameters or {})
    settings = connection.settings
    with (
        translated(settings),
        connection.driver.session(
            database=settings.database, default_access_mode=READ_ACCESS
        ) as session,
    ):
        try:
            # What the text is made of does not matter: the server itself says what it would do.
            first = Query(f"EXPLAIN {query}", timeout=timeout)  # pyright: ignore[reportArgumentType]
            told = session.run(first, given).consume()
            _require_harmless(told.plan)
            if told.query_type != "r":
                msg = (
                    "ask: expected a query that only reads; got one that writes; "
                    "try MATCH … RETURN …"
                )
                raise ParameterError(msg)
            result = session.run(Query(query, timeout=timeout), given)  # pyright: ignore[reportArgumentType]
            columns = tuple(result.keys())
            rows = [tuple(map(_plain, record.values())) for record in result.fetch(most + 1)]
        except exceptions.ClientError as error:
            raise _refusal(error, timeout) from error
    return Rows(columns, tuple(rows[:most]), len(rows) > most, {"ask": query})


def _refusal(error: ClientError, timeout: float) -> Exception:
    if "TransactionTimedOut" in (error.code or ""):
        return StoreError(
            f"ask: expected an answer within {timeout:g} s; got none; "
            "try a narrower query, or --timeout"
        )
    if "Statement" not in (error.code or ""):
        return error  # not about the query
    said = " ".join((error.message or "").split())
    return ParameterError(
        f"ask: expected Cypher that the server understands; got {said}; try whence ask --help"
    )


def _operators(plan: Mapping[str, Any] | None) -> Iterator[Mapping[str, Any]]:
    if plan:
        yield plan
        for child in plan.get("children", ()):
            yield from _operators(child)


def _require_harmless(plan: Mapping[str, Any] | None) -> None:
    for operator in _operators(plan):
        kind = str(operator["operatorType"]).partition("@")[0]
        details = str(operator.get("args", {}).get("Details", ""))
        if kind == "LoadCSV":
            msg = (
                "ask: expected a query over the graph; got LOAD CSV, which reads files and "
                "addresses of the server; try a query without it"
            )
            raise ParameterError(msg)
        if kind == "ProcedureCall" and not _allowed(details):
            msg = (
                f"ask: expected no procedure, or one of {', '.join(sorted(PROCEDURES))}; "
                f"got {details.partition('(')[0]}; try one of these"
            )
            raise ParameterError(msg)
        if kind.startswith(("Show", "Terminate")) and kind not in SHOWN:
            msg = f"ask: expected a query over the graph; got {kind}; try MATCH … RETURN …"
            raise ParameterError(msg)


def _allowed(details: str) -> bool:
    name = details.partition("(")[0].replace("`", "").strip()
    return name in PROCEDURES


def _plain(value: Any) -> Any:
    """What a program can read: nodes, relationships and paths as maps and lists."""
    from neo4j.graph import Node, Path, Relationship

    if isinstance(value, Node):
        return {"labels": sorted(value.labels), **{n: _plain(v) for n, v in value.items()}}
    if isinstance(value, Relationship):
        return {"type": value.type, **{n: _plain(v) for n, v in value.items()}}
    if isinstance(value, Path):
        return [
            _plain(part)
            for pair in zip(value.nodes, [*value.relationships, None], strict=True)
            for part in pair
            if part is not None
        ]
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return value.to_native() if hasattr(value, "to_native") else value
