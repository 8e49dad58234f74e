"""The leaves of a run's Merkle trees: salted digests of its events, kept beside the record.

Every case of a log has a secret of its own, every event without a case likewise. An event's salt is
an HMAC with that secret, so that a case can be forgotten by destroying its secret: what stands for
its events then tells nothing to anybody, and proofs about all others still hold. An output belongs
to the case of the event after which it appeared.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pyarrow as pa

from whence.engine.columns import canonical, records_of
from whence.engine.errors import LogError
from whence.engine.intervals import positions as each_of
from whence.engine.record import LogRecord, RunRecord
from whence.engine.record.erasing import erased_in
from whence.engine.record.files import whole_file
from whence.exporters.evidence.case_secrets import Secrets, secrets_file
from whence.exporters.evidence.hashing import (
    CANONICAL,
    Work,
    field_salt,
    hashed,
    salt_of,
    salting,
    shared_out,
)
from whence.exporters.evidence.merkle import SIZE, Tree
from whence.exporters.evidence.verify import field_digest, leaf_digest

__all__ = [
    "LEAVES",
    "EventLeaves",
    "Secrets",
    "Shown",
    "kept_salts",
    "log_leaves",
    "log_place",
    "salt_of",
    "salts_file",
    "secrets_file",
    "stream_file",
    "stream_leaves",
    "stream_place",
    "tombstone",
    "write_salts",
]

LEAVES = "leaves.bin"


def tombstone(place: str, position: int) -> bytes:
    """What stands for an event of which nothing is known but that it was there."""
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
    """One event with all that a proof may tell of it.

    Attributes:
        position: its position.
        values: its fields as canonical JSON; none if it was erased.
        salts: the salts of its fields.
        erased: what stands for it, if it was erased.
    """

    def __init__(
        self,
        place: str,
        position: int,
        values: dict[str, str],
        salt: bytes,
        erased: bytes | None = None,
    ) -> None:
        """Work out the salts."""
        self.place, self.position, self.values = place, position, values
        self.salts = {
            name: field_salt(salt, number, len(values))
            for number, name in enumerate(sorted(values))
        }
        self.erased = erased

    @property
    def digests(self) -> dict[str, bytes]:
        """What stands for its fields."""
        return {n: field_digest(self.salts[n], n, v) for n, v in sorted(self.values.items())}

    @property
    def leaf(self) -> bytes:
        """What stands for it."""
        if self.erased is not None:
            return self.erased
        return leaf_digest(self.place, self.position, b"".join(self.digests.values()))


Part = tuple[int, Callable[[], pa.Table]]
"""How many events it has, and how they are read."""


class EventLeaves:
    """The tree of a log or stream, and single events of it.

    Attributes:
        place: what the log or stream is called in proofs.
        tree: the tree.
    """

    def __init__(
        self,
        place: str,
        file: Path,
        parts: Sequence[Part],
        columns: dict[str, str],
        secret_of: Callable[[int, int], bytes | None],
        count: int,
        erased: Collection[int] = (),
        salts: dict[int, bytes] | None = None,
        keep: Callable[[dict[int, bytes]], None] | None = None,
        work: Work | None = None,
    ) -> None:
        """Read the leaves; the first time, work them out.

        Args:
            place: what it is called in proofs.
            file: where its leaves are kept.
            parts: its parts, whose events are at the positions from 0 on, one after another.
            columns: the kinds of their columns.
            secret_of: the secret of an event, by its position and its moment; ``None`` if it was
                destroyed.
            count: how many events there are.
            erased: the positions of events that were erased.
            salts: the salts of events whose secret was destroyed.
            keep: told of these salts if there are more of them, before they are needed.
            work: how the leaves are worked out, if every event has a secret.
        """
        self.place = place
        self._parts, self._columns, self._secret_of = parts, columns, secret_of
        self._erased, self._salts = frozenset(erased), {} if salts is None else salts
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            known = len(self._salts)
            if work is not None:
                leaves = shared_out(work, count)
            else:
                leaves = b"".join(self._leaves(read()) for _, read in parts)
            if keep is not None and len(self._salts) > known:
                keep(self._salts)
            whole_file(file, lambda beside: _bytes_to(beside, leaves))
        self.tree = Tree(file.read_bytes())
        if self.tree.count != count:
            msg = (
                f"{file}: expected {count:,} leaves; got {self.tree.count:,}; "
                "try removing the file: it is made again from the record"
            )
            raise LogError(msg)

    def _leaves(self, table: pa.Table) -> bytes:
        """The leaves of a part of which events were erased, or have salts of their own."""
        salt = salting()

        def one(position: int, moment: int, at: bytes) -> bytes:
            if position in self._erased:
                return b""
            secret = self._secret_of(position, moment)
            if secret is None:
                return self._salts.setdefault(position, secrets.token_bytes(SIZE))
            return salt(secret, at)

        def salted(places: list[int], moments: list[int], ats: list[bytes]) -> list[bytes]:
            return list(map(one, places, moments, ats))

        found = hashed(table, self._columns, self.place, salted)
        for row, position in enumerate(table.column("position").to_pylist()):
            if position in self._erased:
                found[row] = tombstone(self.place, position)
        return b"".join(found)

    def shown(self, positions: Sequence[int]) -> list[tuple[int, Shown]]:
        """Single events with their indexes, read from the record and held against the leaves.

        Raises:
            LogError: the record is not what it was when the leaves were made.
        """
        wanted, found, before = np.unique(np.array(positions, np.int64)), [], 0
        for rows, read in self._parts:
            here = wanted[(wanted >= before) & (wanted < before + rows)]
            if not len(here):
                before += rows
                continue
            table = read()
            places = table.column("position").to_numpy()
            for row in np.flatnonzero(np.isin(places, here)):
                one = table.slice(int(row), 1)
                (record,) = records_of(one, self._columns)
                position = int(places[row])
                moment = one.column("moment")[0].as_py() if "moment" in one.column_names else 0
                leaf = self.tree.leaf(before + int(row))
                if position in self._erased:
                    gone = Shown(self.place, position, {}, b"", leaf)
                    found.append((before + int(row), gone))
                    continue
                secret = self._secret_of(position, moment)
                salt = (
                    self._salts.get(position, b"")
                    if secret is None
                    else salt_of(secret, self.place, position)
                )
                values = {name: canonical(value) for name, value in record.items()}
                event = Shown(self.place, position, values, salt)
                if event.leaf != leaf:
                    msg = (
                        f"{self.place}@{position}: expected the event as it was when its digest "
                        "was made; got another value; try the record's copy"
                    )
                    raise LogError(msg)
                found.append((before + int(row), event))
            before += rows
        return found


def log_leaves(log: LogRecord) -> EventLeaves:
    """The leaves of a log."""
    held = Secrets.made(log)
    chunk, length = int(log.manifest["chunk"]), log.length
    numbers = range(log.manifest["parts"])
    files = [log.folder / f"part-{number:05d}.parquet" for number in numbers]
    return EventLeaves(
        log_place(log),
        log.folder / LEAVES,
        [(min(chunk, length - n * chunk), partial(log.part, n)) for n in numbers],
        log.columns,
        lambda position, _: held.at(position),
        length,
        frozenset(each_of(erased_in(log.manifest))),
        work=held.work(files, log.columns, log_place(log)),
    )


def stream_leaves(run: RunRecord, name: str, log: LogRecord | None) -> EventLeaves:
    """The leaves of a stream's events.

    Args:
        run: the run.
        name: the stream's.
        log: the run's first log, whose cases its outputs belong to; ``None`` without any.
    """
    (stream,) = (each for each in run.manifest["streams"] if each["name"] == name)
    held = None if log is None or not log.length else Secrets.made(log)

    def secret_of(_: int, moment: int) -> bytes | None:
        return b"" if held is None else held.at(held.event(moment))

    files = [run.path("outputs", name, part["part"]) for part in stream["outputs"]]
    kinds = {"value": CANONICAL}
    return EventLeaves(
        stream_place(run, name),
        stream_file(run, name),
        [(part["rows"], partial(run.outputs, name, part["part"])) for part in stream["outputs"]],
        kinds,
        secret_of,
        stream["length"],
        frozenset(each_of(erased_in(stream))),
        kept_salts(run, name),
        lambda salts: write_salts(salts_file(run, name), salts),
        None
        if held is None or erased_in(stream)
        else held.work(files, kinds, stream_place(run, name)),
    )


def write_salts(path: Path, salts: dict[int, bytes]) -> None:
    """Keep salts, for the record's owner alone."""
    text = json.dumps({at: salt.hex() for at, salt in sorted(salts.items())})

    def write(beside: Path) -> None:
        beside.touch(0o600)  # at a URI it is not there yet
        beside.write_text(text, encoding="ascii")

    whole_file(path, write)


def _bytes_to(path: Path, data: bytes) -> None:
    path.write_bytes(data)
