"""The journal of a record: who asked, exported or erased what, and when; chained by digests.

Each line has the digest of the line before it and one of its own, so that a line that is changed,
removed or put in between is found. What the chain alone cannot show is a cut at the end, and a
journal that was written anew from some line on. For this there are heads: the count of entries and
the last digest at some moment, signed and kept elsewhere, as the root of every run is.

A command may name somebody who is to be forgotten. So the chain rests on a salted digest of the
words, not on the words: they and their salt can be taken out, and the chain holds.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from whence.engine.errors import StoreError
from whence.engine.record.files import whole_file
from whence.engine.record.remote import RemotePath
from whence.engine.record.user import process_user

__all__ = ["FILE", "REDIRECTED", "Entry", "forget", "note", "read_journal"]

FILE = "journal.jsonl"
REDIRECTED = ">"
"""Stands behind the words of a command that printed into a file, before the name of that file."""
_FIRST = "0" * 64


@dataclass(frozen=True)
class Entry:
    """One line of the journal.

    Attributes:
        number: counted from 0.
        time: when.
        who: the user whose process it was, whatever the environment says.
        action: the command.
        words: the command as it was given; of one that was forgotten, the command alone.
        latest: the run that ``latest`` was, if it was named so.
        previous: the digest of the entry before.
        salt: what the words are hashed with; empty if they were forgotten.
        told: the salted digest of the words.
        erased: the erasure that took the words; ``None`` if they are there.
        digest: the digest of all of this but for words, salt and erasure.
        uid: the number of the user; ``None`` in entries that are older than this.
    """

    number: int
    time: str
    who: str
    action: str
    words: tuple[str, ...]
    latest: str | None
    previous: str
    salt: str
    told: str
    erased: str | None
    digest: str
    uid: int | None = None


def note(root: Path, words: Sequence[str], *, latest: str | None = None) -> Entry:
    """Write an entry behind the last one.

    Args:
        root: the record's place.
        words: the command and its arguments.
        latest: the run that ``latest`` was.

    Raises:
        StoreError: the journal cannot be written, or its end is damaged.
    """
    if isinstance(root, RemotePath):
        msg = f"{root}: expected a record on this machine; got a URI; try keeping a journal there"
        raise StoreError(msg)
    path = root / FILE
    try:
        root.mkdir(parents=True, exist_ok=True)
        with _locked(path) as file:
            last = _last(file.read(), path)
            entry = _made(last, words, latest)
            file.write(_line(entry))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        msg = f"{path}: expected a journal that can be written; got: {error.strerror}; try chmod"
        raise StoreError(msg) from error
    return entry


def forget(root: Path, mentions: Callable[[str], bool], erasure: str) -> int:
    """Take the words out of every entry that mentions somebody; say of how many.

    Args:
        root: the record's place.
        mentions: whether a word does.
        erasure: the id of the erasure that it belongs to.
    """
    path = root / FILE
    if not path.exists():
        return 0
    # Nobody writes a journal at a URI; one that was copied there is not locked.
    with path.open("rb") if isinstance(path, RemotePath) else _locked(path) as file:
        entries = list(_checked(file.read(), path))
        kept = [
            replace(each, words=(each.action,), salt="", erased=erasure)
            if each.erased is None and any(map(mentions, each.words[1:]))
            else each
            for each in entries
        ]
        if kept != entries:
            lines = b"".join(map(_line, kept))
            whole_file(path, lambda beside: _bytes_to(beside, lines))
    return sum(one != other for one, other in zip(entries, kept, strict=True))


def _bytes_to(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def _locked(path: Path) -> IO[bytes]:
    """The journal, locked until it is closed, and not one that was replaced meanwhile."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        file = os.fdopen(handle, "r+b")
        fcntl.flock(file, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return file
        file.close()


def read_journal(root: Path) -> list[Entry]:
    """Every entry, each held against the one before it.

    Raises:
        StoreError: a line was changed, removed or put in between; the error names it.
    """
    path = root / FILE
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return []
    except OSError as error:
        msg = f"{path}: expected a journal that can be read; got: {error.strerror}; try chmod"
        raise StoreError(msg) from error
    return list(_checked(text, path))


def _checked(text: bytes, path: Path) -> Iterator[Entry]:
    before = _FIRST
    for number, line in enumerate(text.split(b"\n")[:-1]):
        entry = _entry(line)
        if entry is None or entry.number != number or entry.previous != before:
            raise _damaged(path, number)
        before = entry.digest
        yield entry
    if text and not text.endswith(b"\n"):
        raise _damaged(path, text.count(b"\n"))


def _last(text: bytes, path: Path) -> Entry | None:
    if not text:
        return None
    lines = text.split(b"\n")
    entry = _entry(lines[-2]) if len(lines) > 1 and not lines[-1] else None
    if entry is None:
        raise _damaged(path, len(lines) - 1)
    return entry


def _damaged(path: Path, number: int) -> StoreError:
    return StoreError(
        f"{path}, line {number + 1}: expected the journal as it was written; got another line; "
        "try a copy of it"
    )


def _entry(line: bytes) -> Entry | None:
    """The entry of a line, if it is what was written."""
    try:
        found: dict[str, Any] = json.loads(line)
        entry = Entry(**{**found, "words": tuple(found["words"])})
    except (ValueError, TypeError, KeyError):
        return None
    if entry.erased is None:
        right = entry.told == _told(entry.salt, entry.words)
    else:
        right = (entry.words, entry.salt) == ((entry.action,), "")
    right = right and _line(entry) == line + b"\n"
    return entry if right and entry.digest == _digest(found) else None


def _made(last: Entry | None, words: Sequence[str], latest: str | None) -> Entry:
    salt = secrets.token_hex(16)
    who, uid = process_user()
    made: dict[str, Any] = {
        "number": 0 if last is None else last.number + 1,
        "time": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "who": who,
        "action": words[0] if words else "",
        "words": tuple(words),
        "latest": latest,
        "previous": _FIRST if last is None else last.digest,
        "salt": salt,
        "told": _told(salt, words),
        "erased": None,
        "uid": uid,
    }
    return Entry(**made, digest=_digest(made))


def _told(salt: str, words: Sequence[str]) -> str:
    text = json.dumps([salt, *words], separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _digest(entry: Mapping[str, Any]) -> str:
    apart = ("digest", "words", "salt", "erased")
    content = {word: value for word, value in entry.items() if word not in apart}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _line(entry: Entry) -> bytes:
    told = asdict(entry)
    if entry.uid is None:
        del told["uid"]  # as the line was written
    return json.dumps(told, separators=(",", ":")).encode("ascii") + b"\n"
