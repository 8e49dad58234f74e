"""What stands for each event of a part: digests of its fields, salted; and the same for many parts.

A long log is shared among processes of their own, which run this file as a script: what is hashed
here is too short for threads to run at the same time. So that they start at once, the file needs
nothing but Arrow; the rest of Whence is loaded for values of rare kinds alone.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from json.encoder import encode_basestring
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["CANONICAL", "Work", "field_salt", "hashed", "salt_of", "salting", "shared_out"]

CANONICAL = "canonical"
"""The kind of outputs' values, which the record keeps as canonical JSON already."""

_INNER = bytes(byte ^ 0x36 for byte in range(256))
_OUTER = bytes(byte ^ 0x5C for byte in range(256))

SIZE = 32
"""Bytes of a secret."""

MANY = 200_000
"""From so many events on several processes work on them."""

_FIELDS = 4
"""Fields whose salts, of 128 bits each, one digest gives."""


def salting() -> Callable[[bytes, bytes], bytes]:
    """Gives salts: an HMAC of an event's place with a secret, whose keys are made once a secret."""
    sha256 = hashlib.sha256
    keys: dict[bytes, tuple[bytes, bytes]] = {}

    def salt(secret: bytes, at: bytes) -> bytes:
        pair = keys.get(secret)
        if pair is None:
            pair = keys[secret] = _hmac_keys(secret)
        return sha256(pair[1] + sha256(pair[0] + at).digest()).digest()

    return salt


def _hmac_keys(secret: bytes) -> tuple[bytes, bytes]:
    """What an HMAC begins its two digests with."""
    key = secret.ljust(64, b"\0")
    return key.translate(_INNER), key.translate(_OUTER)


def salt_of(secret: bytes, place: str, position: int) -> bytes:
    """The salt of one event."""
    return salting()(secret, f"{place}\0{position}\0".encode())


def field_salt(salt: bytes, number: int, count: int) -> bytes:
    """The salt of a field, by its number in the order of names, of so many."""
    return (salt if count == 1 else _wide(salt, number))[_part(number, count)]


def _wide(salt: bytes, number: int) -> bytes:
    """The salts of four fields: whoever is told one of them cannot work out the others."""
    return hashlib.sha512(b"\x03%d\0" % (number // _FIELDS) + salt).digest()


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
    """What stands for each event of a table.

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
            wide = [_wide(salt, number) for salt in salts]
        part = _part(number, len(names))
        owns = wide if len(names) == 1 else [own[part] for own in wide]
        told = _told(table.column(name), columns[name], name.encode() + b"\0")
        digests.append(
            [sha256(b"\x02" + own + value).digest() for own, value in zip(owns, told, strict=True)]
        )
    fields = digests[0] if len(digests) == 1 else map(b"".join, zip(*digests, strict=True))
    return [sha256(b"\x00" + at + field).digest() for at, field in zip(ats, fields, strict=True)]


def _told(column: pa.ChunkedArray, kind: str, before: bytes) -> list[bytes]:
    """The values of a column as canonical JSON, each after its name: what is alike is told once."""
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
    from whence.engine.columns import canonical, records_of

    table = pa.table({"value": column})
    return [canonical(r["value"]).encode() for r in records_of(table, {"value": kind})]


@dataclass(frozen=True)
class Work:
    """Parts whose events all have a secret.

    Attributes:
        files: the parts.
        columns: the kinds of their columns.
        place: what the log or stream is called in proofs.
        numbers: the number of each input event's secret.
        secrets: the secrets, one after the other.
    """

    files: tuple[Path, ...]
    columns: Mapping[str, str]
    place: str
    numbers: np.ndarray
    secrets: bytes

    def leaves(self) -> Iterator[bytes]:
        """What stands for the events, part by part."""
        sha256, last = hashlib.sha256, len(self.numbers) - 1

        def salted(_: list[int], moments: list[int], ats: list[bytes]) -> list[bytes]:
            events = np.clip(np.array(moments, np.int64), 0, last)
            numbers, which = np.unique(self.numbers[events], return_inverse=True)
            begins = (numbers * SIZE).tolist()
            keys = [_hmac_keys(self.secrets[begin : begin + SIZE]) for begin in begins]
            pairs = [keys[n] for n in which.tolist()]
            return [
                sha256(outer + sha256(inner + at).digest()).digest()
                for (inner, outer), at in zip(pairs, ats, strict=True)
            ]

        for path in self.files:
            table = pq.ParquetFile(path).read()
            yield b"".join(hashed(table, self.columns, self.place, salted))


def shared_out(work: Work, count: int) -> bytes:
    """What stands for all events, worked out here or, if there are many, by several processes."""
    hands = min(os.cpu_count() or 1, len(work.files))
    if count < MANY or hands < 2:
        return b"".join(work.leaves())
    cuts = [len(work.files) * n // hands for n in range(hands + 1)]
    shares = [replace(work, files=work.files[a:b]) for a, b in pairwise(cuts)]
    with ThreadPoolExecutor(hands) as pool:
        return b"".join(pool.map(_elsewhere, shares))


def _elsewhere(work: Work) -> bytes:
    """The same in a process of its own; if that fails, here."""
    told = pickle.dumps({field.name: getattr(work, field.name) for field in fields(work)})
    words = [sys.executable, "-P", __file__]
    done = subprocess.run(words, input=told, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else b"".join(work.leaves())


if __name__ == "__main__":
    for piece in Work(**pickle.load(sys.stdin.buffer)).leaves():
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()
