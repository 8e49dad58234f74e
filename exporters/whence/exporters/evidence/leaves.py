"""The leaves of a run's Merkle trees: salted digests of its events, kept beside the record.

Every case of a log has a secret of its own, every event without a case likewise. An event's salt is
an HMAC with that secret, so that a case can be forgotten by destroying its secret: what stands for
its events then reveals nothing, and proofs about all others still hold. An output belongs
to the case of the event after which it appeared.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import quote

import numpy as np

from whence.engine.errors import LogError
from whence.engine.lineage.positions import positions as each_of
from whence.engine.record import LogRecord, RunRecord
from whence.engine.record.files import read_table, whole_file
from whence.engine.values.columns import canonical, records_of
from whence.exporters.evidence.case_secrets import Secrets, secrets_file
from whence.exporters.evidence.hashing import CANONICAL, Work, field_salt, salt_of
from whence.exporters.evidence.hashing_pool import HashingPool
from whence.exporters.evidence.merkle import SIZE, Tree
from whence.exporters.evidence.verify import field_digest, leaf_digest

__all__ = [
    "LEAVES",
    "EventLeaves",
    "RunLeaves",
    "Secrets",
    "Shown",
    "kept_salts",
    "log_place",
    "read_leaves",
    "salt_of",
    "salts_file",
    "secrets_file",
    "stream_file",
    "stream_place",
    "tombstone",
    "write_leaves",
    "write_salts",
]

LEAVES = "leaves.bin"

_COUNT = 8
"""Bytes at the end of such a file with its number of leaves, if there is more in it."""


def tombstone(place: str, position: int) -> bytes:
    """The digest of an event of which only the existence is known."""
    return leaf_digest(place, position, b"erased")


def log_place(log: LogRecord) -> str:
    """What a log is called in proofs."""
    return f"log/{log.id}"


def stream_place(run: RunRecord, name: str) -> str:
    """What a stream is called in proofs."""
    return f"run/{run.id}/{name}"


def stream_file(run: RunRecord, name: str) -> Path:
    """Where the leaves of a stream are."""
    return run.folder / "leaves" / f"{quote(name, safe='')}.bin"


def salts_file(run: RunRecord, name: str) -> Path:
    """Where salts are of outputs that appeared after an event that was erased."""
    return stream_file(run, name).with_suffix(".salts")


def kept_salts(run: RunRecord, name: str) -> dict[int, bytes]:
    """These salts, by position."""
    try:
        told = json.loads(salts_file(run, name).read_text(encoding="ascii"))
    except FileNotFoundError:
        return {}
    return {int(at): bytes.fromhex(salt) for at, salt in told.items()}


class Shown:
    """One event with all that a proof may reveal of it.

    Attributes:
        position: its position.
        values: its fields as canonical JSON; none if it was erased.
        salts: the salts of its fields.
        erased: its digest, if it was erased.
    """

    def __init__(
        self,
        place: str,
        position: int,
        values: dict[str, str],
        salt: bytes,
        erased: bytes | None = None,
    ) -> None:
        self.place, self.position, self.values = place, position, values
        self.salts = {
            name: field_salt(salt, number, len(values))
            for number, name in enumerate(sorted(values))
        }
        self.erased = erased

    @property
    def digests(self) -> dict[str, bytes]:
        """The digests of its fields."""
        return {n: field_digest(self.salts[n], n, v) for n, v in sorted(self.values.items())}

    @property
    def leaf(self) -> bytes:
        """Its digest."""
        if self.erased is not None:
            return self.erased
        return leaf_digest(self.place, self.position, b"".join(self.digests.values()))


class EventLeaves:
    """The tree of a log or stream, and single events of it.

    Attributes:
        place: what the log or stream is called in proofs.
    """

    def __init__(self, file: Path, work: Work, rows: Sequence[int], hands: HashingPool) -> None:
        """Begin to work the leaves out, if that was not done before.

        Args:
            file: where they are stored.
            work: how they are worked out.
            rows: how many events each of its parts has, one part after another.
            hands: who works them out.
        """
        self.place = work.place
        self._file, self._work, self._rows = file, work, rows
        self._erased = frozenset(work.erased.tolist())
        self._begun = None if file.exists() else hands.begin(work, rows)

    @cached_property
    def tree(self) -> Tree:
        """The tree; its computed nodes are cached."""
        count = sum(self._rows)
        if self._begun is not None:
            tree = self._begun()
            self._file.parent.mkdir(parents=True, exist_ok=True)
        else:
            leaves, tops = read_leaves(self._file)
            if len(leaves) != count * SIZE:
                whole, over = divmod(len(leaves), SIZE)
                got = "a file that was cut" if over else f"{whole:,}"
                msg = (
                    f"{self._file}: expected {count:,} leaves; got {got}; "
                    "try removing the file: it is made again from the record"
                )
                raise LogError(msg)
            tree = Tree(leaves, tops)
            if tops is not None:
                return tree
        write_leaves(self._file, tree.leaves, tree.tops)
        return tree

    def shown(self, positions: Sequence[int]) -> list[tuple[int, Shown]]:
        """Single events with their indexes, read from the record and held against the leaves.

        Raises:
            LogError: the record is not what it was when the leaves were made.
        """
        wanted, found, before = np.unique(np.array(positions, np.int64)), [], 0
        for rows, path in zip(self._rows, self._work.files, strict=True):
            here = wanted[(wanted >= before) & (wanted < before + rows)]
            if not len(here):
                before += rows
                continue
            table = read_table(path)
            places = table.column("position").to_numpy()
            for row in np.flatnonzero(np.isin(places, here)):
                one = table.slice(int(row), 1)
                (record,) = records_of(one, self._work.columns)
                position, index = int(places[row]), before + int(row)
                moment = (
                    one.column("moment")[0].as_py() if "moment" in one.column_names else position
                )
                leaf = self.tree.leaf(index)
                if position in self._erased:
                    self._check(index)
                    found.append((index, Shown(self.place, position, {}, b"", leaf)))
                    continue
                values = {name: canonical(value) for name, value in record.items()}
                event = Shown(self.place, position, values, self._work.salt(position, moment))
                if event.leaf != leaf:
                    msg = (
                        f"{self.place}@{position}: expected the event as it was when its digest "
                        "was made; got another value; try the record's copy"
                    )
                    raise LogError(msg)
                self._check(index)
                found.append((index, event))
            before += rows
        return found

    def _check(self, index: int) -> None:
        """Refuse stored nodes that are not those of the leaves below them."""
        if not self.tree.fits(index):
            msg = (
                f"{self._file}: expected nodes that fit their leaves; got others; "
                "try removing the file: it is made again from the record"
            )
            raise LogError(msg)


@dataclass(frozen=True)
class RunLeaves:
    """The leaves of a run: those of its logs and those of its output streams, by name."""

    logs: Mapping[str, EventLeaves]
    streams: Mapping[str, EventLeaves]

    @classmethod
    def begun(
        cls,
        run: RunRecord,
        logs: Mapping[str, LogRecord],
        streams: Iterable[str],
        hands: HashingPool,
    ) -> RunLeaves:
        """Begin to work them out; an output belongs to a case of the first log.

        Args:
            run: the run.
            logs: its logs.
            streams: the names of its output streams.
            hands: who works them out.
        """
        held = {name: Secrets.made(log) for name, log in logs.items()}
        first = next(iter(logs), None)
        of_first = None if first is None or not logs[first].length else held[first]
        return cls(
            {name: _of_log(log, held[name], hands) for name, log in logs.items()},
            {name: _of_stream(run, name, of_first, hands) for name in streams},
        )


def _of_log(log: LogRecord, held: Secrets, hands: HashingPool) -> EventLeaves:
    chunk, length = log.manifest.chunk, log.length
    numbers = range(log.manifest.parts)
    files = [log.folder / f"part-{number:05d}.parquet" for number in numbers]
    work = held.work(files, log.columns, log_place(log), log.manifest.erased)
    rows = [min(chunk, length - number * chunk) for number in numbers]
    return EventLeaves(log.folder / LEAVES, work, rows, hands)


def _of_stream(run: RunRecord, name: str, held: Secrets | None, hands: HashingPool) -> EventLeaves:
    stream = run.manifest.by_name[name]
    files = [run.path("outputs", name, part.part) for part in stream.outputs]
    kinds, place, erased = {"value": CANONICAL}, stream_place(run, name), stream.erased
    if held is None:
        gone = np.fromiter(each_of(erased), np.int64)
        work = Work(tuple(files), kinds, place, np.zeros(1, np.int64), b"", gone, {})
    else:
        salts = kept_salts(run, name)
        work = held.work(files, kinds, place, erased, salts)
        if not stream_file(run, name).exists() and (made := _new_salts(work)):
            salts |= made
            write_salts(salts_file(run, name), salts)
    rows = [part.rows for part in stream.outputs]
    return EventLeaves(stream_file(run, name), work, rows, hands)


def _new_salts(work: Work) -> dict[int, bytes]:
    """Salts for outputs that are there, appeared after an erased event, and have none."""
    found: dict[int, bytes] = {}
    for path in work.files if bool((work.numbers < 0).any()) else ():
        table = read_table(path)
        positions, moments = (table.column(name).to_numpy() for name in ("position", "moment"))
        lost = work.numbers[np.clip(moments, 0, len(work.numbers) - 1)] < 0
        lost &= ~np.isin(positions, work.erased)
        for position in positions[lost].tolist():
            if position not in work.salts:
                found[position] = secrets.token_bytes(SIZE)
    return found


def write_leaves(path: Path, leaves: bytes, tops: bytes | None = None) -> None:
    """Keep leaves, and in the same file, so that they fit, what is on top of their branches.

    Args:
        path: the file.
        leaves: the leaves.
        tops: what is on top; ``None`` if the next caller has to compute it.
    """
    more = b"" if tops is None else tops + (len(leaves) // SIZE).to_bytes(_COUNT)
    whole_file(path, lambda beside: _bytes_to(beside, leaves + more))


def read_leaves(path: Path) -> tuple[bytes, bytes | None]:
    """Leaves, and the nodes on top of their branches if they are stored."""
    kept = path.read_bytes()
    if len(kept) % SIZE != _COUNT:
        return kept, None
    count = int.from_bytes(kept[-_COUNT:])
    if len(kept) != (count + Tree.branches(count)) * SIZE + _COUNT:
        return kept, None  # which are no leaves of any count
    return kept[: count * SIZE], kept[count * SIZE : -_COUNT]


def write_salts(path: Path, salts: dict[int, bytes]) -> None:
    """Keep salts, for the record's owner alone."""
    text = json.dumps({at: salt.hex() for at, salt in sorted(salts.items())})

    def write(beside: Path) -> None:
        beside.touch(0o600)  # at a URI it is not there yet
        beside.write_text(text, encoding="ascii")

    whole_file(path, write)


def _bytes_to(path: Path, data: bytes) -> None:
    path.write_bytes(data)
