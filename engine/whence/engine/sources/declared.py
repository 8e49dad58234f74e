"""Open a log as it is declared: in a chain file, in Python, or by options of the command line."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from whence.engine.errors import LogError
from whence.engine.language.chain import Chain
from whence.engine.language.chain_file import with_log
from whence.engine.language.log import ROLES, Log
from whence.engine.progress import Listener
from whence.engine.sources.any_format import open_source
from whence.engine.sources.file_source import FileSource
from whence.engine.sources.limits import Limits
from whence.engine.sources.mapping import Role, propose
from whence.engine.sources.proposing import ways_to_read_times
from whence.engine.sources.source import Source

__all__ = ["keys_to_order_by", "mapped", "open_declared", "with_source"]

_PASSED_ON = (
    *("format", "columns", "delimiter", "encoding", "header"),
    *("pattern", "object_type", "timezone", "on_bad", "decimal", "sheet"),
)


def open_declared(where: Any, declared: Log | None, *, progress: Listener | None = None) -> Source:
    """Open a log; what is not declared is left to the format.

    Args:
        where: a file, several, a folder, or a table of Spark.
        declared: what is known of the log.
        progress: called with the progress of reading.
    """
    stated = declared or Log()
    options = {name: getattr(stated, name) for name in _PASSED_ON}
    options = {name: value for name, value in options.items() if value is not None}
    limits = Limits.stated(f"{name}={most}" for name, most in (stated.limits or {}).items())
    return open_source(where, **options, limits=limits, progress=progress)


def mapped(source: Source, declared: Log | None) -> dict[str, Role]:
    """Which column of an opened log is the case, the activity, the time, the event's id."""
    stated = {role: getattr(declared, role, None) for role in ROLES}
    return propose(source.columns, stated=stated, known=source.roles, where=source.name)


def with_source(chain: Chain, name: str, source: Source, declared: Log | None = None) -> Chain:
    """Let a chain know an opened log: the kinds of all its columns, and its mapping.

    Args:
        chain: what is to read it.
        name: what the chain calls it.
        source: the opened log.
        declared: what is stated of it, on top of what the chain itself declares.

    Raises:
        LogError: a column is named that is not there.
    """
    declared = (declared or Log()).over(chain.logs.get(name))
    roles = mapped(source, declared)
    found = {role: each.column for role, each in roles.items()}
    guessed = {role for role, each in roles.items() if each.why != "stated"}
    known = replace(
        Log(columns=dict(source.columns)).over(declared),
        case=found.get("case", declared.case),
        activity=found.get("activity", declared.activity),
        time=found.get("time", declared.time),
        id=found.get("id", declared.id),
        guessed=tuple(sorted(guessed.union(declared.guessed))),
    )
    return with_log(chain, name, known)


def keys_to_order_by(source: Source, declared: Log | None) -> list[str]:
    """The columns that a log is to be put in order by; none for the order of the file.

    Raises:
        LogError: a column is not there, or holds times as text.
    """
    order = (declared or Log()).order or "file"
    if order == "file":
        return []
    roles = mapped(source, declared)
    keys = []
    for word in (order,) if isinstance(order, str) else order:
        column = word
        if word == "time" and "time" in roles:
            column = roles["time"].column
        if column not in source.columns:
            known = ", ".join(source.columns)
            msg = (
                f"{source.name}: expected a column to order by; got {word!r}; "
                f"try {'--time COLUMN' if word == 'time' else f'one of {known}'}"
            )
            raise LogError(msg)
        is_time = "time" in roles and roles["time"].column == column
        if is_time and source.columns[column] == "text":
            # Texts in order are not times in order.
            msg = (
                f"{source.name}: expected the column {column!r} to hold instants, to order by; "
                f"got text; try {_ways(source, column)}"
            )
            raise LogError(msg)
        keys.append(column)
    return keys


def _ways(source: Source, column: str) -> str:
    """How the times of a text column can be declared, from its first rows."""
    ways: tuple[str, ...] = ()
    if isinstance(source, FileSource):
        first = next(source.batches(), None)
        ways = () if first is None else ways_to_read_times(first.column(column))
    if not ways:
        return f"--type '{column}=instant', or instant(%d.%m.%Y) as it is written"
    told = " or ".join(f"--type '{column}={kind}'" for kind in ways)
    return f"{told}, whichever it is: both fit" if len(ways) > 1 else told
