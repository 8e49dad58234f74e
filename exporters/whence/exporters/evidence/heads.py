"""Signed heads of a journal: whether it still goes through everything that was signed.

Each line of the journal rests on the one before it. So who takes a line out and writes the rest
anew has a chain that looks unbroken, but no longer goes through a head that was signed before: the
roots of runs carry such heads, and so do packs, wherever they were copied to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whence.engine.errors import EvidenceError, WhenceError
from whence.engine.record import RunRecord, list_runs
from whence.engine.record.erasing import list_erasures
from whence.engine.record.root import read_commits
from whence.exporters.evidence.attesting import opened
from whence.exporters.evidence.committing import ACTION, check_commit, has_head, key_of
from whence.exporters.evidence.keys import PublicKey, public_key_of
from whence.exporters.evidence.verify import ATTESTATION, BAG, PackError, read_pack
from whence.store.journal import Entry, read_journal

__all__ = ["Heads", "verify_heads"]


@dataclass(frozen=True)
class Heads:
    """What was found of a journal that is unbroken in itself.

    Attributes:
        entries: how many entries it has.
        covered: how many of them precede the last signed head.
        signed: how many signed heads it goes through.
        problems: what shows that it was changed, one line each.
        others: keys that signed heads and are not the one that is trusted.
    """

    entries: int
    covered: int
    signed: int
    problems: tuple[str, ...]
    others: tuple[str, ...]


@dataclass(frozen=True)
class _Head:
    what: str
    key: PublicKey | None
    head: Mapping[str, Any]


def verify_heads(root: Path, key: PublicKey | None, packs: Sequence[Path] = ()) -> Heads:
    """Compare a journal with every stored head of it.

    Args:
        root: the record's place.
        key: the key that is trusted; ``None`` for any.
        packs: packs that were made from the record.

    Raises:
        StoreError: the journal is not unbroken in itself.
        EvidenceError: one of the packs is none.
    """
    entries = read_journal(root)
    erasures = {each.id for each in list_erasures(root)}
    problems = [
        f"entry {each.number}: its words were taken out with erasure {each.erased}, which the "
        "record does not have"
        for each in entries
        if each.erased is not None and each.erased not in erasures
    ]
    covered = signed = 0
    others: dict[str, None] = {}
    for each in (*_of_runs(root, entries, problems), *map(_of_pack, packs)):
        if not has_head(entries, each.head):
            problems.append(
                f"{each.what} carries the head of a journal of {each.head['count']:,} entries; "
                "this journal does not go through it: entries were removed or changed"
            )
        elif each.key is not None and (key is None or each.key.id == key.id):
            signed, covered = signed + 1, max(covered, each.head["count"])
        elif each.key is not None:
            others[each.key.id] = None
    return Heads(len(entries), covered, signed, tuple(problems), tuple(others))


def _of_runs(root: Path, entries: Iterable[Entry], problems: list[str]) -> Iterator[_Head]:
    known = set(list_runs(root))
    committed: dict[str, list[str]] = {}
    for id in sorted(known):
        try:
            for commit in read_commits(RunRecord(root, id)):
                predicate = check_commit(commit, id).predicate
                committed.setdefault(id, []).append(commit["root"])
                if predicate["journal"] is not None:
                    key = None if commit["keyid"] is None else key_of(commit)
                    yield _Head(f"run {id}", key, predicate["journal"])
        except (WhenceError, KeyError, TypeError, ValueError) as error:
            problems.append(f"run {id}: its root.json cannot be relied on: {error}")
            committed.setdefault(id, [])
    for entry in entries:
        if entry.action == ACTION and len(entry.words) == 3:
            _, id, named = entry.words
            if id in known and named not in committed.get(id, ()):
                problems.append(f"run {id}: entry {entry.number} names a root that it has not")


def _of_pack(path: Path) -> _Head:
    try:
        files, _ = read_pack(path)
        found = opened(files[ATTESTATION])
        key = public_key_of(files[f"{BAG}data/key.pub"].decode("ascii"), path)
        head = found.predicate["journal"]
        if not found.signed_by(key) or not isinstance(head, Mapping):
            raise ValueError(_UNSIGNED)
        return _Head(path.name, key, head)
    except (PackError, WhenceError, KeyError, ValueError) as error:
        msg = f"{path}: expected a pack with a signed head of the journal; got {error}; try another"
        raise EvidenceError(msg) from error


_UNSIGNED = "none that is signed"
