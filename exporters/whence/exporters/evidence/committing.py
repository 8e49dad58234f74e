"""The root of a run, committed when it ends: in the journal, signed, perhaps time-stamped.

What is committed is next to the manifest, in ``root.json``. Its statement names the root and the
head of the journal at that moment, which includes the line about it. Changes of the run, and lines
removed from the journal before it, are therefore detected unless they were made with the key.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whence.engine.errors import LogError, StoreError, WhenceError
from whence.engine.record import RunRecord
from whence.engine.record.remote import RemotePath
from whence.engine.record.root import parts_of, read_commits, root_of, write_commits
from whence.engine.record.runs import now
from whence.exporters.evidence.attesting import Opened, opened, sealed
from whence.exporters.evidence.keys import KeyPair, PublicKey, public_key_of, signing_keys
from whence.exporters.evidence.timestamping import stamped
from whence.store.journal import Entry, note, read_journal

__all__ = [
    "KIND",
    "Committed",
    "check_commit",
    "commit_run",
    "committed_of",
    "has_head",
    "head_now",
    "key_of",
]

KIND = "urn:whence:run-root:v1"
ACTION = "root"
"""What the journal calls such an entry; its words are this, the run and the root."""


@dataclass(frozen=True)
class Committed:
    """What was committed of a run.

    Attributes:
        root: the root, in hex.
        key: the key that it is signed with; ``None`` if it is not signed.
        stamped: whether it has a time that a server vouches for.
        problems: what could not be done, one line each.
    """

    root: str
    key: str | None
    stamped: bool
    problems: tuple[str, ...] = ()


def commit_run(
    run: RunRecord,
    *,
    keys: KeyPair | None = None,
    timestamp: str | None = None,
    why: str | None = None,
) -> Committed:
    """Commit the root of a run that is complete; one that was committed stays as it is.

    A failure is reported and does not undo the run: it is over, and its record is whole.

    Args:
        run: the run.
        keys: what it is signed with; else what `signing_keys` finds.
        timestamp: a server of RFC 3161 to ask for the time.
        why: what made the root what it is; ``None`` for the end of the run, or its import.

    Raises:
        LogError: the run is not complete.
    """
    manifest = run.manifest
    if not manifest.is_complete:
        msg = (
            f"run {run.id}: expected a run that is complete; got one that is "
            f"{manifest.status}; try it again when it has ended"
        )
        raise LogError(msg)
    commits, root = read_commits(run), root_of(parts_of(run))
    if commits and commits[-1]["root"] == root:
        return Committed(root, commits[-1]["keyid"], commits[-1]["timestamp"] is not None)
    problems: list[str] = []
    head = None
    if not isinstance(run.root, RemotePath):
        try:
            head = _head_of(note(run.root, [ACTION, run.id, root]))
        except StoreError as error:
            problems.append(f"the root is not in the journal: {error}")
    try:
        keys = keys or signing_keys()
    except WhenceError as error:
        problems.append(f"the root is not signed: {error}")
    why = why or ("imported" if manifest.imported else "ended")
    said = {"run": run.id, "why": why, "signed": now(), "journal": head}
    envelope = sealed({"run-root": root}, KIND, said, keys)
    token = None
    if timestamp is not None:
        try:
            token = base64.b64encode(stamped(envelope, timestamp)).decode("ascii")
        except WhenceError as error:
            problems.append(f"the root has no time that others vouch for: {error}")
    keyid = None if keys is None else keys.public.id
    commits.append(
        {
            "root": root,
            "keyid": keyid,
            "key": None if keys is None else keys.public.pem,
            "envelope": envelope.decode("ascii"),
            "timestamp": token,
        }
    )
    write_commits(run, commits)
    return Committed(root, keyid, token is not None, tuple(problems))


def _head_of(entry: Entry) -> dict[str, Any]:
    """The head of a journal that ends with an entry."""
    return {"count": entry.number + 1, "head": entry.digest}


def head_now(root: Path) -> dict[str, Any] | None:
    """The head of a record's journal as it is; ``None`` if nothing is in it."""
    entries = read_journal(root)
    return _head_of(entries[-1]) if entries else None


def check_commit(commit: Mapping[str, Any], run: str) -> Opened:
    """What a commit states, once its form and its signature hold.

    Raises:
        LogError: they do not.
    """
    try:
        found = opened(str(commit["envelope"]).encode("ascii"))
        if found.kind != KIND or dict(found.subjects) != {"run-root": commit["root"]}:
            raise _refused(run, "a statement about its root", "another one")
        if found.predicate["run"] != run or found.keyid != commit["keyid"]:
            raise _refused(run, "a statement about this run by this key", "another one")
        if found.keyid is not None and not found.signed_by(key_of(commit)):
            raise _refused(run, "a statement that is signed", "a signature that is not of it")
    except LogError:
        raise  # which is a ValueError, too
    except (KeyError, TypeError, ValueError, UnicodeError) as error:
        raise _refused(run, "a statement that can be read", repr(error)) from error
    return found


def key_of(commit: Mapping[str, Any]) -> PublicKey:
    """The key that a commit names as its own."""
    return public_key_of(str(commit["key"]), Path("root.json"))


def committed_of(run: RunRecord) -> dict[str, Any]:
    """What a pack carries of it: the parts under the root, and every commit.

    Raises:
        LogError: the run is not what was committed, or what was committed is not there any more.
        StoreError: the journal was changed.
    """
    parts, commits = parts_of(run), read_commits(run)
    entries = read_journal(run.root)
    noted = [e.words[2] for e in entries if e.words[:2] == (ACTION, run.id) and len(e.words) == 3]
    if not commits and noted:
        raise _refused(run.id, "root.json, which the journal names", "none")
    if commits:
        _check_all(run, root_of(parts), commits, entries, noted)
    return {"parts": parts, "commits": commits}


def _check_all(
    run: RunRecord,
    root: str,
    commits: Sequence[Mapping[str, Any]],
    entries: Sequence[Entry],
    noted: Sequence[str],
) -> None:
    for commit in commits:
        head = check_commit(commit, run.id).predicate["journal"]
        if head is not None and not has_head(entries, head):
            raise _refused(
                run.id, "the journal as it was when its root was committed", "a journal without it"
            )
    if any(commit["keyid"] for commit in commits) and not commits[-1]["keyid"]:
        raise _refused(run.id, "a signature on its last root, as on an earlier one", "none")
    if noted and noted[-1] != commits[-1]["root"]:
        raise _refused(run.id, f"the root {noted[-1]} of the journal", commits[-1]["root"])
    if root != commits[-1]["root"]:
        raise _refused(
            run.id, f"the record as it was when its root was {commits[-1]['root']}", f"root {root}"
        )


def has_head(entries: Sequence[Entry], head: Mapping[str, Any]) -> bool:
    """Whether a journal contains this head."""
    count = head["count"]
    return bool(0 < count <= len(entries) and entries[count - 1].digest == head["head"])


def _refused(run: str, expected: str, got: str) -> LogError:
    return LogError(f"run {run}: expected {expected}; got {got}; try a copy of the record")
