"""Digests of single events, keyed: without the secret nobody can try values out against them.

A plain digest of personal data is no protection, as there are few people to try. The keyed
function is SipHash-2-4 with 128 bits (Aumasson and Bernstein), on many events at once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from whence.engine.record.content_digest import as_words
from whence.engine.values.arrow_compute import pc

__all__ = ["event_digests", "sip_hash"]

_LONG = 512
"""Texts of more bytes are hashed one by one, by BLAKE2."""

_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)
_START = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)


def event_digests(
    columns: Sequence[pa.Array], secret: bytes, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """The digest of each event, as two numbers of 64 bits.

    What is hashed is, for each event: which values are there; then each value, a text as its
    length and its bytes, filled up to words.

    Args:
        columns: the events' values, as in a log's part.
        secret: 32 bytes.
        count: how many events.
    """
    v = _begin(secret[:16], count)
    for first in range(0, len(columns), 64):
        there = np.zeros(count, np.uint64)
        for place, column in enumerate(columns[first : first + 64]):
            valid = column.is_valid().to_numpy(zero_copy_only=False)
            there |= valid.astype(np.uint64) << np.uint64(place)
        _absorb(v, there)
    for column in columns:
        if pa.types.is_string(column.type):
            _absorb_texts(v, column, secret[16:])
        else:
            _absorb(v, as_words(column).view(np.uint64))
    return _end(v)


def _absorb_texts(v: list[np.ndarray], column: pa.Array, key: bytes) -> None:
    full = pc.fill_null(column, "") if column.null_count else column
    _, offsets, data = full.buffers()
    bounds = np.frombuffer(offsets, np.int32)[full.offset : full.offset + len(full) + 1]
    begins, lengths = bounds[:-1].astype(np.int64), np.diff(bounds).astype(np.int64)
    _absorb(v, lengths.view(np.uint64))
    longest = int(lengths.max(initial=0))
    if not longest:
        return
    signs = np.frombuffer(data, np.uint8)
    if longest > _LONG:
        _absorb_long(v, signs, begins, lengths, key)
        lengths = np.where(lengths > _LONG, 0, lengths)
    # The longest first, so that those that go on stay together.
    order = np.argsort(-lengths, kind="stable")
    begins, lengths = begins[order], lengths[order]
    turned = [x[order] for x in v]
    low = int(bounds[0])
    padded = np.concatenate([signs[low : int(bounds[-1])], np.zeros(8, np.uint8)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, 8)
    for number in range((int(lengths[0]) + 7) // 8):
        going = int(np.searchsorted(-lengths, -8 * number))  # these have a byte behind that place
        left = np.minimum(lengths[:going] - 8 * number, 8).astype(np.uint64)
        kept = _ONES >> (np.uint64(64) - left * np.uint64(8))
        word = windows[begins[:going] - low + 8 * number].view("<u8")[:, 0] & kept
        _absorb([x[:going] for x in turned], word)
    for x, y in zip(v, turned, strict=True):
        x[order] = y


def _absorb_long(
    v: list[np.ndarray], signs: np.ndarray, begins: np.ndarray, lengths: np.ndarray, key: bytes
) -> None:
    for place in np.flatnonzero(lengths > _LONG):
        text = signs[begins[place] : begins[place] + lengths[place]].tobytes()
        digest = hashlib.blake2b(text, key=key, digest_size=16).digest()
        one = [x[place : place + 1] for x in v]
        for word in np.frombuffer(digest, "<u8"):
            _absorb(one, np.array([word]))


def sip_hash(words: Sequence[np.ndarray], key: bytes, count: int) -> tuple[np.ndarray, np.ndarray]:
    """SipHash-2-4 with 128 bits of many messages, each of as many words of 64 bits.

    Args:
        words: the first words of all messages, the second words, and so on.
        key: 16 bytes.
        count: how many messages.
    """
    v = _begin(key, count)
    for word in words:
        _absorb(v, word)
    _absorb(v, np.full(count, (8 * len(words) & 0xFF) << 56, np.uint64))
    return _end(v)


def _begin(key: bytes, count: int) -> list[np.ndarray]:
    k = np.frombuffer(key, "<u8")
    v = [np.full(count, start, np.uint64) ^ k[n % 2] for n, start in enumerate(_START)]
    v[1] ^= np.uint64(0xEE)
    return v


def _absorb(v: list[np.ndarray], word: np.ndarray) -> None:
    v[3] ^= word
    _rounds(v, 2)
    v[0] ^= word


def _end(v: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    v[2] ^= np.uint64(0xEE)
    _rounds(v, 4)
    high = v[0] ^ v[1] ^ v[2] ^ v[3]
    v[1] ^= np.uint64(0xDD)
    _rounds(v, 4)
    return high, v[0] ^ v[1] ^ v[2] ^ v[3]


def _rounds(v: list[np.ndarray], times: int) -> None:
    for _ in range(times):
        v[0] += v[1]
        v[2] += v[3]
        _turn(v[1], 13)
        v[1] ^= v[0]
        _turn(v[3], 16)
        v[3] ^= v[2]
        _turn(v[0], 32)
        v[2] += v[1]
        v[0] += v[3]
        _turn(v[1], 17)
        v[1] ^= v[2]
        _turn(v[3], 21)
        v[3] ^= v[0]
        _turn(v[2], 32)


def _turn(x: np.ndarray, by: int) -> None:
    """Turn the bits of each number, in place."""
    high = x << np.uint64(by)
    x >>= np.uint64(64 - by)
    x |= high
