"""The digest of each event of a part: salted digests of its fields; and the nodes above them.

This file is run as a script, too, by processes that share a long log (see `HashingPool`). To
start at once, it needs nothing but Arrow; the rest of Whence is loaded for values of rare
kinds alone.
"""

from __future__ import annotations

import hashlib
import hmac
import pickle
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from json.encoder import encode_basestring
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

__all__ = [
    "BRANCH",
    "CANONICAL",
    "NOTHING",
    "SIZE",
    "Done",
    "Work",
    "above",
    "field_salt",
    "salt_of",
    "top",
]

CANONICAL = "canonical"
"""The kind of outputs' values, which the record keeps as canonical JSON already."""

SIZE = 32
"""Bytes of a digest, and of a secret."""

NOTHING = hashlib.sha256(b"").digest()
"""The root of a tree without leaves."""

_HEIGHT = 10
BRANCH = 1 << _HEIGHT
"""Leaves per branch of a Merkle tree; the node on top of each branch is stored."""

_KEY = 64
_INNER, _OUTER = np.uint8(0x36), np.uint8(0x5C)
"""How long the key of an HMAC is, and what its two digests mix with it."""

_FIELDS = 4
"""Fields whose salts, of 128 bits each, one digest gives."""

_SHORT = 64
"""Bytes up to which Python's own digests are quicker than those of OpenSSL."""


def _own(name: str) -> Callable[[bytes], Any]:
    """Python's own digest, if it has one: for few bytes it is quicker than OpenSSL's."""
    for module in ("_sha2", f"_{name}"):
        with suppress(ImportError, AttributeError):
            found: Callable[[bytes], Any] = getattr(import_module(module), name)
            return found
    fallback: Callable[[bytes], Any] = getattr(hashlib, name)
    return fallback


_sha256, _sha512 = _own("sha256"), _own("sha512")


def above(level: bytes) -> bytes:
    """The level above one of a Merkle tree."""
    sha256, pair = hashlib.sha256, 2 * SIZE
    pairs = len(level) // pair * pair
    nodes = [sha256(b"\x01" + level[at : at + pair]).digest() for at in range(0, pairs, pair)]
    return b"".join(nodes) + level[pairs:]  # one that has no neighbour goes up as it is


def top(leaves: bytes) -> bytes:
    """What is on top of some leaves; there must be one."""
    while len(leaves) > SIZE:
        leaves = above(leaves)
    return leaves


def _tops(leaves: bytes) -> bytes:
    """What is on top of each branch that is whole, from the first leaf on."""
    level = leaves[: len(leaves) // (BRANCH * SIZE) * (BRANCH * SIZE)]
    for _ in range(_HEIGHT):
        level = above(level)
    return level


def salt_of(secret: bytes, place: str, position: int) -> bytes:
    """The salt of one event: an HMAC of its place with a secret."""
    return hmac.digest(secret, f"{place}\0{position}\0".encode(), "sha256")


def field_salt(salt: bytes, number: int, count: int) -> bytes:
    """The salt of a field, by its number in the order of names, of so many."""
    return (salt if count == 1 else _wide([salt], number)[0])[_part(number, count)]


def _wide(salts: list[bytes], number: int) -> list[bytes]:
    """The salts of four fields: one of them does not reveal the others."""
    head, sha512 = b"\x03%d\0" % (number // _FIELDS), _sha512
    return [sha512(head + salt).digest() for salt in salts]


def _part(number: int, count: int) -> slice:
    """Where the salt of a field is; an event with a single field needs no more than its own."""
    first = 16 * (number % _FIELDS)
    return slice(None) if count == 1 else slice(first, first + 16)


def hashed(
    table: pa.Table,
    columns: Mapping[str, str],
    place: str,
    salted: Callable[[list[int], list[int], list[bytes]], list[bytes]],
) -> list[bytes]:
    """The digest of each event of a table.

    Args:
        table: the events.
        columns: the kinds of their columns.
        place: what the log or stream is called in proofs.
        salted: gives the salts of events, by their positions, moments and places.
    """
    places = table.column("position").to_pylist()
    moments = table.column("moment").to_pylist() if "moment" in table.column_names else places
    names = sorted(columns)
    sha256, head = hashlib.sha256, place.encode() + b"\0"
    ats = [head + b"%d\0" % position for position in places]
    salts = salted(places, moments, ats)
    wide, digests = salts, []
    for number, name in enumerate(names):
        if number % _FIELDS == 0 and len(names) > 1:
            wide = _wide(salts, number)
        part = _part(number, len(names))
        owns = wide if len(names) == 1 else [own[part] for own in wide]
        told = _told(table.column(name), columns[name], name.encode() + b"\0")
        short = sum(map(len, told)) <= (_SHORT - SIZE) * len(told)
        digest = _sha256 if short else sha256
        digests.append(
            [digest(b"\x02" + own + value).digest() for own, value in zip(owns, told, strict=True)]
        )
    fields = digests[0] if len(digests) == 1 else map(b"".join, zip(*digests, strict=True))
    return [sha256(b"\x00" + at + field).digest() for at, field in zip(ats, fields, strict=True)]


def _told(column: pa.ChunkedArray, kind: str, before: bytes) -> list[bytes]:
    """The values of a column as canonical JSON, each after its name; equal ones are made once."""
    if kind not in (CANONICAL, "text", "integer") or not len(column):
        return [before + text for text in _texts(column, kind)]
    coded = pa.concat_arrays(column.chunks)
    if not pa.types.is_dictionary(coded.type):
        coded = coded.dictionary_encode(null_encoding="encode")
    texts = [before + text for text in _texts(pa.chunked_array([coded.dictionary]), kind)]
    return [texts[code] for code in coded.indices.to_pylist()]


def _texts(column: pa.ChunkedArray, kind: str) -> list[bytes]:
    """The values of a column as canonical JSON."""
    if kind == CANONICAL:
        return [value.encode() for value in column.to_pylist()]
    values: list[Any] = column.to_pylist()
    if kind == "text":
        return [b"null" if v is None else encode_basestring(v).encode() for v in values]
    if kind == "integer":
        return [b"null" if v is None else b"%d" % v for v in values]
    from whence.engine.values.columns import canonical, records_of

    table = pa.table({"value": column})
    return [canonical(r["value"]).encode() for r in records_of(table, {"value": kind})]


@dataclass(frozen=True)
class Done:
    """The digests of the events of some parts.

    Attributes:
        leaves: one for each event.
        tops: what is on top of each branch that is whole in these parts.
    """

    leaves: bytes
    tops: bytes


@dataclass(frozen=True)
class Work:
    """Parts of a log or stream, and what is needed to compute the digests of their events.

    Attributes:
        files: the parts.
        columns: the kinds of their columns.
        place: what the log or stream is called in proofs.
        numbers: the number of each input event's secret; -1 where it was destroyed.
        secrets: the secrets, one after the other.
        erased: the positions of events that were erased, in order.
        salts: the salts of events whose secret was destroyed, by position.
        first: how many events are before these parts.
    """

    files: tuple[Path, ...]
    columns: Mapping[str, str]
    place: str
    numbers: np.ndarray
    secrets: bytes
    erased: np.ndarray
    salts: Mapping[int, bytes]
    first: int = 0

    def done(self) -> Done:
        leaves = b"".join(self._leaves())
        return Done(leaves, _tops(leaves[-self.first % BRANCH * SIZE :]))

    def salt(self, position: int, moment: int) -> bytes:
        number = int(self.numbers[max(0, min(moment, len(self.numbers) - 1))])
        if number < 0:
            return self.salts.get(position, b"")
        return salt_of(self._secret(number), self.place, position)

    def _leaves(self) -> Iterator[bytes]:
        head = b"\x00" + self.place.encode()
        for path in self.files:
            table = pq.ParquetFile(path).read()
            found = hashed(table, self.columns, self.place, self._salts)
            positions = table.column("position").to_numpy()
            for row in np.flatnonzero(np.isin(positions, self.erased)).tolist():
                found[row] = hashlib.sha256(head + b"\0%d\0erased" % positions[row]).digest()
            yield b"".join(found)

    def _salts(self, places: list[int], moments: list[int], ats: list[bytes]) -> list[bytes]:
        """The salts of events; of one that was erased it does not matter."""
        sha256, key = hashlib.sha256, _KEY
        events = np.clip(np.array(moments, np.int64), 0, len(self.numbers) - 1)
        numbers = self.numbers[events]
        keys = np.zeros((len(numbers), key), np.uint8)
        held = np.frombuffer(self.secrets, np.uint8).reshape(-1, SIZE)
        keys[:, :SIZE] = held[numbers] if len(held) else 0
        inner, outer = (keys ^ _INNER).tobytes(), (keys ^ _OUTER).tobytes()
        starts = range(0, len(inner), key)
        found = [
            sha256(
                outer[start : start + key] + sha256(inner[start : start + key] + at).digest()
            ).digest()
            for start, at in zip(starts, ats, strict=True)
        ]
        for row in np.flatnonzero(numbers < 0).tolist():
            found[row] = self.salts.get(places[row], b"")
        return found

    def _secret(self, number: int) -> bytes:
        return self.secrets[number * SIZE : (number + 1) * SIZE] if number >= 0 else b""


if __name__ == "__main__":
    while (told := pickle.load(sys.stdin.buffer)) is not None:
        done = Work(**told).done()
        pickle.dump((done.leaves, done.tops), sys.stdout.buffer)
        sys.stdout.buffer.flush()
