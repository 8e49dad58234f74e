"""The leaves of a run's Merkle trees: salted digests of its events, kept beside the record.

Every case of a log has a secret of its own, every event without a case likewise. An event's salt is
an HMAC with that secret, so that a case can be forgotten by destroying its secret: what stands for
its events then tells nothing to anybody, and proofs about all others still hold. An output belongs
to the case of the event after which it appeared.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Callable, Iterable, Sequence
from json.encoder import encode_basestring
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pyarrow as pa

from whence.engine.columns import canonical, records_of
from whence.engine.errors import LogError
from whence.engine.record import LogRecord, RunRecord
from whence.engine.record.files import whole_file
from whence.exporters.evidence.merkle import SIZE, Tree
from whence.exporters.evidence.verify import field_digest, leaf_digest

__all__ = ["EventLeaves", "Shown", "log_leaves", "stream_leaves"]

_INNER = bytes(byte ^ 0x36 for byte in range(256))
_OUTER = bytes(byte ^ 0x5C for byte in range(256))
_SECRETS = "secrets.bin"
_LEAVES = "leaves.bin"


class Shown:
    """One event with all that a proof may tell of it.

    Attributes:
        position: its position.
        values: its fields as canonical JSON.
        salts: the salts of its fields.
    """

    def __init__(self, place: str, position: int, values: dict[str, str], secret: bytes) -> None:
        """Work out the salts."""
        self.place, self.position, self.values = place, position, values
        salt = _salt(secret, place, position)
        self.salts = {name: _field_salt(salt, name.encode()) for name in values}

    @property
    def digests(self) -> dict[str, bytes]:
        """What stands for its fields."""
        return {n: field_digest(self.salts[n], n, v) for n, v in sorted(self.values.items())}

    @property
    def leaf(self) -> bytes:
        """What stands for it."""
        return leaf_digest(self.place, self.position, b"".join(self.digests.values()))


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
        tables: Callable[[], Iterable[pa.Table]],
        columns: dict[str, str],
        secret_of: Callable[[int, int], bytes],
        count: int,
    ) -> None:
        """Read the leaves; the first time, work them out.

        Args:
            place: what it is called in proofs.
            file: where its leaves are kept.
            tables: its parts.
            columns: the kinds of their columns.
            secret_of: the secret of an event, by its index and its moment.
            count: how many events there are.
        """
        self.place = place
        self._tables, self._columns, self._secret_of = tables, columns, secret_of
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            leaves = b"".join(self._leaves(table) for table in tables())
            whole_file(file, lambda beside: _bytes_to(beside, leaves))
        self.tree = Tree(file.read_bytes())
        if self.tree.count != count:
            msg = (
                f"{file}: expected {count:,} leaves; got {self.tree.count:,}; "
                "try removing the file: it is made again from the record"
            )
            raise LogError(msg)

    def _leaves(self, table: pa.Table) -> bytes:
        places = table.column("position").to_pylist()
        moments = table.column("moment").to_pylist() if "moment" in table.column_names else places
        names = sorted(self._columns)
        texts = [_texts(table.column(name), self._columns[name]) for name in names]
        encoded = [name.encode() for name in names]
        sha256, secret_of, place = hashlib.sha256, self._secret_of, self.place.encode()
        found = []
        for position, moment, *values in zip(places, moments, *texts, strict=True):
            key = secret_of(position, moment).ljust(64, b"\0")
            at = b"%s\0%d\0" % (place, position)
            inner = sha256(key.translate(_INNER) + at).digest()
            salt = sha256(key.translate(_OUTER) + inner).digest()
            fields = b"".join(
                [
                    sha256(
                        b"\x02%s%s\0%s" % (sha256(b"\x03" + salt + name).digest(), name, value)
                    ).digest()
                    for name, value in zip(encoded, values, strict=True)
                ]
            )
            found.append(sha256(b"\x00" + at + fields).digest())
        return b"".join(found)

    def shown(self, positions: Sequence[int]) -> list[tuple[int, Shown]]:
        """Single events with their indexes, read from the record and held against the leaves.

        Raises:
            LogError: the record is not what it was when the leaves were made.
        """
        wanted, found, before = set(positions), [], 0
        for table in self._tables():
            places = table.column("position").to_numpy()
            for row in np.flatnonzero(np.isin(places, np.fromiter(wanted, np.int64))):
                one = table.slice(int(row), 1)
                (record,) = records_of(one, self._columns)
                position = int(places[row])
                moment = one.column("moment")[0].as_py() if "moment" in one.column_names else 0
                secret = self._secret_of(position, moment)
                values = {name: canonical(value) for name, value in record.items()}
                event = Shown(self.place, position, values, secret)
                if event.leaf != self.tree.leaf(before + int(row)):
                    msg = (
                        f"{self.place}@{position}: expected the event as it was when its digest "
                        "was made; got another value; try the record's copy"
                    )
                    raise LogError(msg)
                found.append((before + int(row), event))
            before += table.num_rows
        return found


def log_leaves(log: LogRecord) -> EventLeaves:
    """The leaves of a log."""
    numbers, count = _cases(log)
    held = _held_secrets(log.folder / _SECRETS, count)

    def secret_of(position: int, _: int) -> bytes:
        at = (position if numbers is None else numbers[position]) * SIZE
        return held[at : at + SIZE]

    return EventLeaves(
        f"log/{log.id}",
        log.folder / _LEAVES,
        lambda: (log.part(number) for number in range(log.manifest["parts"])),
        log.columns,
        secret_of,
        log.length,
    )


def stream_leaves(run: RunRecord, name: str, log: LogRecord | None) -> EventLeaves:
    """The leaves of a stream's events.

    Args:
        run: the run.
        name: the stream's.
        log: the run's first log, whose cases its outputs belong to; ``None`` without any.
    """
    (stream,) = (each for each in run.manifest["streams"] if each["name"] == name)
    numbers, count = _cases(log) if log is not None else (None, 0)
    held = _held_secrets(log.folder / _SECRETS, count) if log is not None else b""
    last = log.length - 1 if log is not None else -1

    def secret_of(_: int, moment: int) -> bytes:
        if not held:
            return b""
        event = max(0, min(moment, last))
        at = (event if numbers is None else numbers[event]) * SIZE
        return held[at : at + SIZE]

    def tables() -> Iterable[pa.Table]:
        for part in stream["outputs"]:
            yield run.outputs(name, part["part"])

    return EventLeaves(
        f"run/{run.id}/{name}",
        run.folder / "leaves" / f"{quote(name, safe='')}.bin",
        tables,
        {"value": _CANONICAL},
        secret_of,
        stream["length"],
    )


_CANONICAL = "canonical"
"""The kind of outputs' values, which the record keeps as canonical JSON already."""


def _texts(column: pa.ChunkedArray, kind: str) -> list[bytes]:
    """The values of a column as canonical JSON."""
    if kind == _CANONICAL:
        return [value.encode() for value in column.to_pylist()]
    values: list[Any] = column.to_pylist()
    if kind == "text":
        return [b"null" if v is None else encode_basestring(v).encode() for v in values]
    if kind == "integer":
        return [b"null" if v is None else b"%d" % v for v in values]
    table = pa.table({"value": column})
    return [canonical(r["value"]).encode() for r in records_of(table, {"value": kind})]


def _cases(log: LogRecord) -> tuple[list[int] | None, int]:
    """The number of each event's case, and how many secrets there are."""
    column = log.manifest.get("case")
    if column is None or column not in log.columns:
        return None, log.length
    pieces = [log.part(n).column(column) for n in range(log.manifest["parts"])]
    whole = pa.chunked_array([chunk for piece in pieces for chunk in piece.chunks])
    coded = whole.combine_chunks().dictionary_encode(null_encoding="encode")
    return coded.indices.to_pylist(), len(coded.dictionary)


def _held_secrets(path: Path, count: int) -> bytes:
    """The secrets of a log, made when they are first needed."""
    if not path.exists():
        beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_bytes(count * SIZE))
        try:
            os.link(beside, path)  # never replaces what another process has just made
        except FileExistsError:
            pass
        finally:
            beside.unlink()
    found = path.read_bytes()
    if len(found) != count * SIZE:
        msg = (
            f"{path}: expected {count:,} secrets; got {len(found) // SIZE:,}; "
            "try the record's copy: without them no proof can be made"
        )
        raise LogError(msg)
    return found


def _salt(secret: bytes, place: str, position: int) -> bytes:
    key = secret.ljust(64, b"\0")
    at = f"{place}\0{position}\0".encode()
    inner = hashlib.sha256(key.translate(_INNER) + at).digest()
    return hashlib.sha256(key.translate(_OUTER) + inner).digest()


def _field_salt(salt: bytes, name: bytes) -> bytes:
    return hashlib.sha256(b"\x03" + salt + name).digest()


def _bytes_to(path: Path, data: bytes) -> None:
    path.write_bytes(data)
