"""What an erasure cannot reach, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from whence.engine.record import LogRecord, RunRecord
from whence.engine.record.erasing import Erasure
from whence.engine.record.folders import log_folder
from whence.engine.record.remote import RemotePath
from whence.store import Connection
from whence.store.journal import REDIRECTED, read_journal
from whence.store.server.lifecycle import instances

__all__ = ["files_written", "named_in_runs", "unreached"]

_OPTIONS: Mapping[str, tuple[str, ...]] = dict.fromkeys(
    ("evidence", "export", "draw"), ("-o", "--output")
)
"""Commands that write files elsewhere, and the options that name them."""
_PAGE = "web"
"""What the journal calls what the page handed out; its name comes next."""
_PROV = "--prov"
_MOST = 20


def unreached(
    root: Path, erasure: Erasure, connection: Connection | None, local: str | None
) -> list[str]:
    """One line for each place that may still hold the values, with what to do there.

    Args:
        root: the record's place.
        erasure: what was erased.
        connection: the graph; ``None`` if there is none.
        local: the name of the local server that the graph is on, if it is on one.
    """
    logs = [LogRecord.open(log_folder(root, id)) for id in erasure.logs]
    sources = dict.fromkeys(str(log.manifest.source) for log in logs if log.manifest.source)
    found = [f"the source of a log, {source}: remove the events there" for source in sources]
    if isinstance(root, RemotePath):
        found.append(
            f"what the store of {root} keeps of objects that were replaced or removed: older "
            "versions of a bucket, its replicas, snapshots and trash; ask its "
            "operator to delete them"
        )
    if connection is not None and local is None:
        found.append(
            "the server's own files: its transaction logs, the free space of its store, its "
            "backups and query logs may hold old values; ask its operator to prune the logs "
            "(db.tx_log.rotation.retention_policy), copy the database (neo4j-admin database copy) "
            "and delete older backups; a local server's are made anew by whence store rebuild"
        )
    others = [name for name in instances() if name != local]
    if others:
        found.append(
            f"other local servers, {', '.join(others)}: if one has these runs, make it anew with "
            "WHENCE_INSTANCE=NAME whence store rebuild"
        )
    return [
        *found,
        "dumps (whence store dump), copies and backups of the record and of the database: delete "
        "them, or erase in them as well",
        "the id of the log, which stays: it is a digest of all that the log held, so that anyone "
        "who knows every other value of it could guess the erased ones",
        "the history of your shell, if it has the command",
    ]


def named_in_runs(root: Path, runs: Iterable[str], mentions: Callable[[str], bool]) -> list[str]:
    """One line for each run whose chain, options or metadata name what is to be erased.

    Users wrote them, and the chain has a digest: they are not changed.

    Args:
        root: the record's place.
        runs: the ids of the runs.
        mentions: whether a text contains what is to be erased.
    """
    found = []
    for id in runs:
        manifest = RunRecord(root, id).manifest
        where = {
            "its chain": manifest.chain,
            "its options": manifest.options.json(),
            "its metadata": manifest.metadata,
        }
        named = [what for what, told in where.items() if any(map(mentions, _texts(told)))]
        if named:
            found.append(
                f"run {id}: {' and '.join(named)} name a text that only these events have; "
                "check whether it identifies a person; if so, make a new run and remove this one "
                "(whence runs remove)"
            )
    return found


def _texts(told: Any) -> Iterator[str]:
    if isinstance(told, str):
        yield told
    elif isinstance(told, Mapping):
        for name, value in told.items():
            yield str(name)
            yield from _texts(value)
    elif isinstance(told, list):
        for value in told:
            yield from _texts(value)


def files_written(root: Path, mentions: Callable[[str], bool]) -> list[str]:
    """One line for each file that commands of the journal have written, and the page handed out.

    Packs, exports and pictures, and what was printed into a file.

    Args:
        root: the record's place.
        mentions: whether a name contains what is to be erased; then it is not repeated.
    """
    found: dict[str, None] = {}
    for entry in read_journal(root):
        line = f"of line {entry.number + 1} of the journal"
        options = (*_OPTIONS.get(entry.action, ()), _PROV, REDIRECTED)
        for word, after in zip(entry.words, (*entry.words[1:], ""), strict=True):
            file = _file_of(word, after, options)
            if file is not None:
                found[_ask_for("a file written earlier", line if mentions(file) else file)] = None
        if entry.action == _PAGE and len(entry.words) > 1:
            file = entry.words[1]
            told = line if any(map(mentions, entry.words)) else f"{file} {line}"
            found[_ask_for("what the page handed out", told)] = None
    lines = list(found)
    left = len(lines) - _MOST
    return lines[:_MOST] + ([f"{left:,} more such files: see whence journal"] if left > 0 else [])


def _file_of(word: str, after: str, options: Collection[str]) -> str | None:
    """The file that a word of a command names, with the word after it: -o F, -oF, --output=F."""
    if word in options:
        return after
    name, sign, rest = word.partition("=")
    if sign and name in options:
        return rest
    short = next((o for o in options if len(o) == 2 and word.startswith(o)), None)
    return None if short is None else word.removeprefix(short)


def _ask_for(what: str, told: str) -> str:
    return (
        f"{what}, {told}: ask its holder to delete it; a pack is never changed, make a new one "
        "instead"
    )
